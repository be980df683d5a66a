/** What OpenSSL says of a certificate that no known CA has signed. */
const unknownIssuer =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE)|CERT_(UNTRUSTED|SIGNATURE_FAILURE))$/;
const askedForCertificate = /^ERR_SSL_.*(CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE|BAD_CERTIFICATE)$/;

export interface TlsAdvice {
  /** How a private CA is made known, as a clause that follows "name its certificate". */
  readonly trust: string;
  /** What to do where the server asks for a certificate of ours. */
  readonly clientCertificate: string;
}

/**
 * Why a TLS connection was given up before anything was said on it, and what to do about that: the certificate is at
 * fault then and not the network. A clause that follows the server's name.
 * @returns null where the failure is another
 */
export function describeTlsFailure(error: unknown, advice: TlsAdvice): string | null {
  if (!(error instanceof Error)) return null;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (unknownIssuer.test(code)) {
    return (
      `has a certificate of a CA that is not known here (${code}): where that is your own CA, name its certificate ` +
      `${advice.trust}`
    );
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return (
      `has a certificate for other names than the one that it is called by here (${code}): call it by a name of its ` +
      'certificate, or give it one with this name as a subjectAltName'
    );
  }
  if (code === 'CERT_HAS_EXPIRED') return `has a certificate that has expired (${code}): give it a new one`;
  if (code === 'CERT_NOT_YET_VALID') {
    return `has a certificate that is not valid yet (${code}): check the clock of this machine, or give it a new one`;
  }
  if (askedForCertificate.test(code)) {
    return `asks for a certificate of its clients (${code}): ${advice.clientCertificate}`;
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    return `does not speak TLS at this port, or not a version that is spoken here (${code}): check the port`;
  }
  return null;
}
