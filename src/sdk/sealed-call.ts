import type { z } from 'zod';
import { encodeBase64 } from '../protocol/base64.ts';
import { randomBytes, utf8 } from '../protocol/bytes.ts';
import { clientPaths, protocolVersion, requestNonceBytes } from '../protocol/constants.ts';
import { sealEnvelope } from '../protocol/envelope.ts';
import {
  clientAuthResult,
  type InnerHead,
  listDevicesResult,
  moveDeviceResult,
  releaseDeviceResult,
  validateResult,
} from '../protocol/messages.ts';
import type { Answer, Call, CallInput, CallResults, CommonCallName } from './call.ts';
import { unixSeconds } from './clock.ts';
import { failureOf, startDeadline } from './deadline.ts';
import type { Failure } from './failure.ts';
import { openSession, type Session } from './handshake.ts';
import { createPostJson } from './http.ts';
import type { Settings } from './options.ts';
import { refusalOf } from './refusal.ts';
import { openSealedAnswer } from './sealed-answer.ts';
import { createSessionHolder } from './session-holder.ts';

/** Schemas of the inner responses. */
const results: { readonly [Name in CommonCallName]: z.ZodType<CallResults[Name]> } = {
  validate: validateResult,
  register: clientAuthResult,
  login: clientAuthResult,
  upgrade: clientAuthResult,
  'devices.list': listDevicesResult,
  'devices.release': releaseDeviceResult,
  'devices.move': moveDeviceResult,
};

/** Asks over version 1 of the protocol, in sessions that it opens and renews. */
export function createSealedCall(settings: Settings): Call {
  const post = createPostJson(settings.baseUrl, settings.fetch);
  const sessions = createSessionHolder((signal) => openSession(settings, post, signal), settings.now);

  async function exchange<Name extends CommonCallName>(
    session: Session,
    { call, members }: CallInput<Name>,
    signal: AbortSignal,
  ): Promise<Answer<CallResults[Name]> | Failure> {
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
    return openSealedAnswer(answer.body, { session, nonce, request, result: results[call], settings });
  }

  async function attempt<Name extends CommonCallName>(input: CallInput<Name>, signal: AbortSignal) {
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
