import { decodeBase64, encodeBase64 } from '../../crypto/base64.ts';
import { deriveSessionKey } from '../../crypto/session-key.ts';
import { unixSeconds } from '../../lib/clock.ts';
import type { ApplicationId } from '../../lib/ids.ts';
import { randomBytes } from '../../lib/random-bytes.ts';
import { canonicalJson } from '../../protocol/canonical-json.ts';
import { handshakeNonceBytes, protocolVersion, saltBytes } from '../../protocol/constants.ts';
import {
  type SessionInitRequest,
  type SessionInitResponse,
  type SessionInitSignedPart,
  sessionInitSignedPart,
} from '../../protocol/messages.ts';
import { messageFor } from '../application/message-for.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { Call, ServiceContext } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import type { RefusalCode } from '../license/decide.ts';
import { judgeClient } from '../license/judge-client.ts';
import { noteVerdict } from './note-verdict.ts';

export type SessionInitOutcome =
  | { readonly accepted: true; readonly answer: SessionInitResponse }
  | { readonly accepted: false; readonly code: RefusalCode; readonly message: string };

/**
 * Opens a client's session (SPEC, "Handshake"). Nothing is stored; the session id is a sealed ticket.
 * @throws {ServiceError} APP_NOT_FOUND
 */
export async function initSession({ ctx, input }: Call<SessionInitRequest>): Promise<SessionInitOutcome> {
  const { caches, securityLog } = ctx.env;
  const application = await caches.application(input.appId);
  if (application === null) throw applicationNotFound();
  ctx.notes.applicationId = application.id;
  const { clientVersion } = input;
  const client = { application, clientVersion, protocol: protocolVersion, hwid: null } as const;
  const { code } = await judgeClient(ctx, client);
  noteVerdict(ctx, 'session_init', code);
  if (code === 'OK') return { accepted: true, answer: openSession(ctx, application, input) };
  securityLog.add(ctx.client, {
    developerId: application.developerId,
    applicationId: application.id,
    event: 'session_refused',
    code,
    metadata: { clientVersion },
  });
  return { accepted: false, code, message: messageFor(application, code) };
}

function openSession(
  ctx: ServiceContext,
  application: ApplicationSnapshot,
  input: SessionInitRequest,
): SessionInitResponse {
  const { clock, tickets } = ctx.env;
  const serverNonce = randomBytes(handshakeNonceBytes);
  const salt = randomBytes(saltBytes);
  const clientNonce = decodeBase64(input.clientNonceB64);
  if (clientNonce === null) throw new TypeError('clientNonceB64 has not been validated');
  const sessionKey = deriveSessionKey({ clientNonce, serverNonce, salt, appId: application.id });
  const unsigned: Omit<SessionInitSignedPart, 'appId'> = {
    sessionId: tickets.seal({
      applicationId: application.id as ApplicationId,
      clientVersion: input.clientVersion,
      sessionKey,
    }),
    serverNonceB64: encodeBase64(serverNonce),
    hkdfSaltB64: encodeBase64(salt),
    timestamp: unixSeconds(clock),
    v: protocolVersion,
  };
  const signed = canonicalJson(sessionInitSignedPart(application.id, unsigned));
  const signature = application.signer.sign(Buffer.from(signed, 'utf8'));
  return { success: true, ...unsigned, signatureB64: encodeBase64(signature) };
}
