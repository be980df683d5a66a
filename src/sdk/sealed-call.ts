import type { z } from 'zod';
import { encodeBase64 } from '../protocol/base64.ts';
import { randomBytes, utf8 } from '../protocol/bytes.ts';
import type { JsonObject } from '../protocol/canonical-json.ts';
import { clientPaths, protocolVersion, requestNonceBytes } from '../protocol/constants.ts';
import { sealEnvelope } from '../protocol/envelope.ts';
import type { InnerHead } from '../protocol/messages.ts';
import { unixSeconds } from './clock.ts';
import { failureOf, startDeadline } from './deadline.ts';
import type { Failure } from './failure.ts';
import { openSession, type Session } from './handshake.ts';
import { createPostJson } from './http.ts';
import type { Settings } from './options.ts';
import { refusalOf } from './refusal.ts';
import { type Answer, openSealedAnswer } from './sealed-answer.ts';
import { createSessionHolder } from './session-holder.ts';

export interface SealedCallInput<Result> {
  readonly call: 'validate' | 'register' | 'login' | 'upgrade';
  /** Members of the inner request in addition to the common ones. */
  readonly members: JsonObject;
  /** Schema of the inner response. */
  readonly result: z.ZodType<Result>;
  readonly signal?: AbortSignal | undefined;
}

/** Makes a sealed request; shared by validate, register, login and upgrade. */
export type SealedCall = <Result>(input: SealedCallInput<Result>) => Promise<Answer<Result> | Failure>;

export function createSealedCall(settings: Settings): SealedCall {
  const post = createPostJson(settings.baseUrl, settings.fetch);
  const sessions = createSessionHolder((signal) => openSession(settings, post, signal), settings.now);

  async function exchange<Result>(
    session: Session,
    { call, members, result }: SealedCallInput<Result>,
    signal: AbortSignal,
  ): Promise<Answer<Result> | Failure> {
    const nonce = encodeBase64(randomBytes(requestNonceBytes.recommended));
    const head: InnerHead = {
      nonce,
      timestamp: unixSeconds(settings.now),
      v: protocolVersion,
      echoNonce: true,
      echoRequest: true,
      call,
    };
    const request = utf8(JSON.stringify({ ...members, ...head }));
    const envelope = sealEnvelope(session.key, request);
    const answer = await post(clientPaths[call], { sessionId: session.sessionId, ...envelope }, signal);
    if (answer.kind === 'failure') return answer;
    if (answer.status !== 200) return refusalOf(answer);
    return openSealedAnswer(answer.body, { session, nonce, request, result, settings });
  }

  async function attempt<Result>(input: SealedCallInput<Result>, signal: AbortSignal) {
    const session = await sessions.acquire(signal);
    if (session.kind === 'failure') return { outcome: session, expired: false };
    const outcome = await exchange(session, input, signal);
    if (isSessionSpent(outcome)) sessions.discard(session);
    return { outcome, expired: outcome.kind === 'failure' && outcome.code === 'SESSION_EXPIRED' };
  }

  return async (input) => {
    const { signal, end } = startDeadline(settings.timeoutMs, input.signal);
    try {
      signal.throwIfAborted();
      const first = await attempt(input, signal);
      // Retry only once: a server that rejects every session must not cause an endless loop (SPEC §9).
      return first.expired ? (await attempt(input, signal)).outcome : first.outcome;
    } catch (thrown) {
      return failureOf(thrown, signal);
    } finally {
      end();
    }
  };
}

/** Whether the next request needs a new session: the server cannot open this one, or someone tampers with it. */
function isSessionSpent(outcome: Answer<unknown> | Failure): boolean {
  if (outcome.kind === 'answer') return false;
  const { reason, code } = outcome;
  return reason === 'untrusted-answer' || code === 'SESSION_EXPIRED' || code === 'DECRYPT_FAIL';
}
