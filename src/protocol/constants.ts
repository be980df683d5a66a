/** The `v` of every sealed message (SPEC §1). */
export const protocolVersion = 1;

/** Prefix of the HKDF `info`; the application id follows directly (SPEC §4). */
export const sessionKeyLabel = 'service-session-v1';

/** Maximum clock difference in seconds, in either direction, inclusive (SPEC §8). */
export const clockSkewSeconds = 60;

/**
 * Seconds during which a request can be accepted, and thus the minimum time that a server must remember its nonce
 * (SPEC §8): the clock skew in both directions plus one second, because timestamps are whole seconds. With exactly 120, a
 * request could be replayed in the last second.
 */
export const replayWindowSeconds = 2 * clockSkewSeconds + 1;

/** Lifetime of a session key, in seconds from the handshake's timestamp (SPEC §9). */
export const sessionLifetimeSeconds = 900;

/** Bytes of each side's handshake nonce (SPEC §3). */
export const handshakeNonceBytes = 32;

/** Bytes of the HKDF salt that the server generates for a handshake (SPEC §3). */
export const saltBytes = 32;

/** Bytes of the AES-256 session key (SPEC §4). */
export const sessionKeyBytes = 32;

/** Bytes of the AES-GCM initialisation vector (SPEC §5). */
export const ivBytes = 12;

/** Bytes of the AES-GCM tag (SPEC §5). */
export const tagBytes = 16;

/** Bytes of an Ed25519 seed and of an Ed25519 public key (RFC 8032 §5.1.5). */
export const ed25519KeyBytes = 32;

/** Bytes of an Ed25519 signature (RFC 8032 §5.1.6). */
export const signatureBytes = 64;

/** Minimum, maximum and recommended bytes of a request's nonce (SPEC §6). */
export const requestNonceBytes = { min: 8, max: 64, recommended: 16 } as const;

/** Maximum length of a `sessionId`, an opaque ticket, in characters (SPEC §3). */
export const sessionIdMaxLength = 1024;

/** Maximum length of a request's `ciphertextB64`, in characters (SPEC §6). */
export const requestCiphertextMaxLength = 16_384;

/** Maximum length of any response of the protocol, in bytes of the HTTP body (SPEC §7). */
export const answerMaxBytes = 65_536;

/** Paths under `{base_url}` (SPEC §3, §6). */
export const clientPaths = {
  sessionInit: '/api/v1/session/init',
  validate: '/api/v1/licenses/validate',
  register: '/api/v1/client/register',
  login: '/api/v1/client/login',
  upgrade: '/api/v1/client/upgrade',
  'devices.list': '/api/v1/client/devices/list',
  'devices.release': '/api/v1/client/devices/release',
  'devices.move': '/api/v1/client/devices/move',
} as const;
