/**
 * Decodes canonical standard base64 with padding, or returns null. As strict as the protocol's portable `decodeBase64`
 * (RFC 4648 §3.5) but five times as fast for envelope-sized texts. Node's decoder accepts any spelling, so the result is
 * encoded again and compared.
 */
export function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}

/** Decodes canonical URL-safe base64 without padding (RFC 4648 §5), or returns null. */
export function decodeBase64Url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

const viewOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Standard base64 with padding (RFC 4648 §4). */
export const encodeBase64 = (bytes: Uint8Array): string => viewOf(bytes).toString('base64');

/** URL-safe base64 without padding (RFC 4648 §5). */
export const encodeBase64Url = (bytes: Uint8Array): string => viewOf(bytes).toString('base64url');
