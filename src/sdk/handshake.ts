import { decodeBase64, encodeBase64 } from '../protocol/base64.ts';
import { randomBytes } from '../protocol/bytes.ts';
import { clientPaths, handshakeNonceBytes } from '../protocol/constants.ts';
import { deriveSessionKey } from '../protocol/key-schedule.ts';
import { type SessionInitRequest, sessionInitResponse, sessionInitSignedPart } from '../protocol/messages.ts';
import { verifySignatureB64 } from '../protocol/signature.ts';
import { clockFailure, isOnTime } from './clock.ts';
import { type Failure, untrusted } from './failure.ts';
import type { PostJson } from './http.ts';
import type { Settings } from './options.ts';
import { refusalOf } from './refusal.ts';

export interface Session {
  readonly kind: 'session';
  readonly sessionId: string;
  readonly key: Uint8Array;
  /** Milliseconds since the Unix epoch on this device's clock, taken before the handshake was sent. */
  readonly openedAt: number;
}

/** Opens a session, performing the checks of SPEC §3 in order. */
export async function openSession(
  settings: Settings,
  post: PostJson,
  signal: AbortSignal,
): Promise<Session | Failure> {
  const { appId, publicKey, now } = settings;
  const openedAt = now();
  const clientNonce = randomBytes(handshakeNonceBytes);
  const request: SessionInitRequest = {
    appId,
    clientNonceB64: encodeBase64(clientNonce),
    clientVersion: settings.version,
  };
  const answer = await post(clientPaths.sessionInit, request, signal);
  if (answer.kind === 'failure') return answer;
  if (answer.status !== 200) return refusalOf(answer);

  const parsed = sessionInitResponse.safeParse(answer.body);
  if (!parsed.success) return untrusted('The handshake response is malformed');
  const { signatureB64, sessionId, serverNonceB64, hkdfSaltB64, timestamp } = parsed.data;
  if (!verifySignatureB64(signatureB64, sessionInitSignedPart(appId, parsed.data), publicKey)) {
    return untrusted("The handshake is not signed with the application's key");
  }
  if (!isOnTime(timestamp, now)) return clockFailure();

  const serverNonce = decodeBase64(serverNonceB64);
  const salt = decodeBase64(hkdfSaltB64);
  if (serverNonce === null || salt === null) return untrusted('The handshake response is malformed');
  return {
    kind: 'session',
    sessionId,
    key: deriveSessionKey({ clientNonce, serverNonce, salt, appId }),
    openedAt,
  };
}
