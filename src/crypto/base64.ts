/**
 * The bytes of a canonical standard base64 text with padding, or null: as strict as the protocol's own `decodeBase64`
 * (RFC 4648 §3.5), in a fifth of the time for what is as long as an envelope. Node reads any spelling, so that the text
 * has to be the one that Node writes for the same bytes.
 */
export function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}

/** The same for URL-safe base64 without padding (RFC 4648 §5). */
export function decodeBase64Url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

const viewOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Standard base64 with padding (RFC 4648 §4). */
export const encodeBase64 = (bytes: Uint8Array): string => viewOf(bytes).toString('base64');

/** URL-safe base64 without padding (RFC 4648 §5). */
export const encodeBase64Url = (bytes: Uint8Array): string => viewOf(bytes).toString('base64url');
