import { openAesGcm } from '../../crypto/aead.ts';
import { decodeBase64, encodeBase64 } from '../../crypto/base64.ts';
import { sha256 } from '../../crypto/hash.ts';
import type { OpenedTicket } from '../../crypto/session-ticket.ts';
import { unixSeconds } from '../../lib/clock.ts';
import { clockSkewSeconds } from '../../protocol/constants.ts';
import { type InnerHead, innerHead, type SealedRequest } from '../../protocol/messages.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { ServiceContext } from '../context.ts';
import { ProtocolError, sessionExpired } from '../protocol-error.ts';

/** What the response repeats of the request, as far as the request asked for it (SPEC §8). */
interface Echo {
  readonly nonce?: string;
  /** SHA-256 of the plaintext, byte for byte. */
  readonly requestSha256B64?: string;
}

/** A sealed request that was opened with its session's key. */
export interface OpenedRequest {
  readonly sessionId: string;
  readonly session: OpenedTicket;
  readonly application: ApplicationSnapshot;
  /** The inner body as JSON, of which only the common members have been validated; undefined if these are malformed. */
  readonly inner: unknown;
  readonly echo: Echo;
  /** The call that the request is for; undefined if it does not say so, and may be any. */
  readonly call: unknown;
}

/**
 * Opens a sealed request, in the order of SPEC §10: session, envelope, common members, clock, replay. All later responses
 * are sealed.
 * @throws {ProtocolError} SESSION_EXPIRED, DECRYPT_FAIL, CLOCK_SKEW, REPLAY
 * @throws {StoreUnavailableError} if a replay cannot be ruled out
 */
export async function openRequest(ctx: ServiceContext, request: SealedRequest): Promise<OpenedRequest> {
  // Read first: the steps below may wait for the database, and the replay guard may lose its memory in that time.
  const { epoch } = ctx.env.store;
  const session = ctx.env.tickets.open(request.sessionId);
  if (session === null) throw sessionExpired();
  const application = await ctx.env.caches.application(session.applicationId);
  if (application === null) throw sessionExpired();
  ctx.notes.applicationId = application.id;

  const plaintext = openEnvelope(session, request);
  const inner = parseJson(plaintext);
  const head = innerHead.safeParse(inner);
  const opened = { sessionId: request.sessionId, session, application };
  if (!head.success) return { ...opened, inner: undefined, echo: {}, call: undefined };
  await refuseStaleOrReplayed(ctx, { session, epoch }, head.data);
  return {
    ...opened,
    inner,
    echo: echoOf(head.data, plaintext),
    call: head.data.echoRequest === true ? head.data.call : undefined,
  };
}

function echoOf(head: InnerHead, plaintext: Uint8Array): Echo {
  return {
    ...(head.echoNonce === true && { nonce: head.nonce }),
    ...(head.echoRequest === true && { requestSha256B64: encodeBase64(sha256(plaintext)) }),
  };
}

function openEnvelope(session: OpenedTicket, request: SealedRequest): Uint8Array {
  const iv = decodeBase64(request.ivB64);
  const ciphertext = decodeBase64(request.ciphertextB64);
  const tag = decodeBase64(request.tagB64);
  const plaintext =
    iv === null || ciphertext === null || tag === null
      ? null
      : openAesGcm(session.sessionKey, { iv, ciphertext, tag });
  if (plaintext === null) {
    throw new ProtocolError('DECRYPT_FAIL', "The envelope cannot be decrypted with this session's key.");
  }
  return plaintext;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    return undefined;
  }
}

async function refuseStaleOrReplayed(
  ctx: ServiceContext,
  { session, epoch }: { readonly session: OpenedTicket; readonly epoch: string },
  head: InnerHead,
): Promise<void> {
  const { clock, replayGuard } = ctx.env;
  const skew = Math.abs(unixSeconds(clock) - head.timestamp);
  if (skew > clockSkewSeconds) {
    throw new ProtocolError(
      'CLOCK_SKEW',
      `The request's timestamp differs from the server's clock by ${skew} s.`,
    );
  }
  const nonce = decodeBase64(head.nonce);
  if (nonce === null || !(await replayGuard.firstUse(session.sessionTag, nonce, epoch))) {
    throw new ProtocolError(
      'REPLAY',
      'This request has been sent before. Seal a new one with a fresh nonce.',
    );
  }
}
