import { decodeBase64Url, encodeBase64Url } from '../base64.ts';
import { utf8 } from '../bytes.ts';
import { signatureBytes } from '../constants.ts';
import { verifyBytes } from '../signature.ts';
import { parseStrictJson } from './strict-json.ts';

// A token is a JWT (RFC 7519) in the compact form of RFC 7515 §3.1, with one constant header for each kind. A reader
// compares the header with that constant and never parses it: it has no `alg` to be confused about (RFC 8725 §2.1).

export const leaseType = 'latchkey-lease+jwt';
export const revocationsType = 'latchkey-revoked+jwt';
/** The header of leases, byte for byte. */
export const leaseHeader = `{"alg":"EdDSA","typ":"${leaseType}"}` as const;
/** The header of revocation lists, byte for byte. */
export const revocationsHeader = `{"alg":"EdDSA","typ":"${revocationsType}"}` as const;
export type TokenHeader = typeof leaseHeader | typeof revocationsHeader;

/** The checks of a token, in order, before its claims. */
export type TokenStep = 'header' | 'encoding' | 'signature' | 'json';

export type TokenResult =
  | { readonly ok: true; readonly payload: unknown }
  | { readonly ok: false; readonly failed: TokenStep };

const failed = (step: TokenStep): TokenResult => ({ ok: false, failed: step });

/**
 * Reads a token: header, canonical base64url without padding, signature over the text as received, strict JSON.
 * @param publicKey the application's Ed25519 key, 32 bytes
 * @returns the parsed payload, whose claims are not checked, or the first check that failed
 */
export function readToken(token: string, header: TokenHeader, publicKey: Uint8Array): TokenResult {
  const start = `${encodeBase64Url(utf8(header))}.`;
  if (!token.startsWith(start)) return failed('header');
  const [payloadText = '', signatureText = '', ...rest] = token.slice(start.length).split('.');
  const payload = decodeBase64Url(payloadText);
  const signature = decodeBase64Url(signatureText);
  if (rest.length > 0 || payload === null || signature?.length !== signatureBytes) return failed('encoding');
  if (!verifyBytes(signature, utf8(start + payloadText), publicKey)) return failed('signature');
  const value = parseStrictJson(payload);
  return value === undefined ? failed('json') : { ok: true, payload: value };
}
