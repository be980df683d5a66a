/** OpenSSL codes for a certificate from an unknown CA. */
const unknownIssuer =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE)|CERT_(UNTRUSTED|SIGNATURE_FAILURE))$/;
const clientCertificateRequired = /^ERR_SSL_.*(CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE|BAD_CERTIFICATE)$/;

export interface TlsAdvice {
  /** How to trust a private CA; follows "specify its certificate". */
  readonly trust: string;
  /** What to do if the server requires a client certificate. */
  readonly clientCertificate: string;
}

/**
 * Explains a failed TLS handshake and its remedy.
 * @returns a clause that follows the server's name, or null if the error is not a TLS failure
 */
export function describeTlsFailure(error: unknown, advice: TlsAdvice): string | null {
  if (!(error instanceof Error)) return null;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (unknownIssuer.test(code)) {
    return `has a certificate from an unknown CA (${code}): if it is your own CA, specify its certificate ${advice.trust}`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return (
      `has a certificate for other names than this one (${code}): use a name from the certificate, or issue one with ` +
      'this name as a subjectAltName'
    );
  }
  if (code === 'CERT_HAS_EXPIRED') return `has a certificate that has expired (${code}): renew it`;
  if (code === 'CERT_NOT_YET_VALID') {
    return `has a certificate that is not valid yet (${code}): check this machine's clock, or issue a new one`;
  }
  if (clientCertificateRequired.test(code)) {
    return `requires a client certificate (${code}): ${advice.clientCertificate}`;
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    return `does not speak TLS on this port, or only an unsupported version (${code}): check the port`;
  }
  return null;
}
