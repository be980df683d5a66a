/** The `v` of every sealed message (SPEC §1). */
export const protocolVersion = 1;

/** Starts the HKDF `info`; the application id follows at once, with nothing between (SPEC §4). */
export const sessionKeyLabel = 'service-session-v1';

/** How far two clocks may differ, in seconds, either way and inclusive (SPEC §8). */
export const clockSkewSeconds = 60;

/**
 * Seconds for which one request can be accepted, and so the least that a server remembers a nonce (SPEC §8): the skew
 * both ways and, as times are whole seconds, the second that the last of them lasts. Exactly 120 would leave the last
 * second open to a replay.
 */
export const replayWindowSeconds = 2 * clockSkewSeconds + 1;

/** How long a session key may be used, in seconds from the handshake's timestamp (SPEC §9). */
export const sessionLifetimeSeconds = 900;

/** Bytes of each side's handshake nonce (SPEC §3). */
export const handshakeNonceBytes = 32;

/** Bytes of the HKDF salt that the server draws for a handshake (SPEC §3). */
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

/** Least, most and recommended bytes of a request's nonce (SPEC §6). */
export const requestNonceBytes = { least: 8, most: 64, usual: 16 } as const;

/** Longest `sessionId`, in characters: an opaque ticket (SPEC §3). */
export const sessionIdMaxLength = 1024;

/** Longest `ciphertextB64` of a request, in characters (SPEC §6). */
export const requestCiphertextMaxLength = 16_384;

/** Longest answer to any request of the protocol, in bytes of the HTTP body (SPEC §7). */
export const answerMaxBytes = 65_536;

/** Paths under `{base_url}` (SPEC §3, §6). */
export const clientPaths = {
  sessionInit: '/api/v1/session/init',
  validate: '/api/v1/licenses/validate',
  register: '/api/v1/client/register',
  login: '/api/v1/client/login',
  upgrade: '/api/v1/client/upgrade',
} as const;
