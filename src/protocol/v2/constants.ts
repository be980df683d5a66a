import { utf8 } from '../bytes.ts';

export const protocolVersion = 2;

/** Where the service answers, after its base URL. */
export const callPath = '/api/v2/call';
export const keyPath = (appId: string): string => `/api/v2/keys/${appId}`;
export const revocationsPath = (appId: string): string => `/api/v2/revocations/${appId}`;

/** Media type of a request; `info` of its encryption begins with it. */
export const requestMediaType = 'application/vnd.latchkey.v2';
export const answerMediaType = 'application/vnd.latchkey.v2-answer';
export const keyMediaType = 'application/vnd.latchkey.v2-key';
/** Of a revocation list (RFC 7519 §10.3.1). */
export const revocationsMediaType = 'application/jwt';

/** RFC 9180 §7: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20Poly1305. There is no other suite. */
export const kemId = Uint8Array.of(0x00, 0x20);
export const kdfId = Uint8Array.of(0x00, 0x01);
export const aeadId = Uint8Array.of(0x00, 0x03);

/** What each kind of signed text begins with. Signed texts of version 1 begin with `{`, and leases with `e`. */
export const keyTag = utf8('latchkey-v2-key\0');
export const answerTag = utf8('latchkey-v2-ans\0');

/** Bytes of an X25519 key, and so of an encapsulated key. */
export const keyBytes = 32;
export const statementBytes = 121;
export const maxRequestBytes = 16_384;
export const maxAnswerBytes = 65_536;
