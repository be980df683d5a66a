import { callPath, protocolVersion, requestMediaType } from '../../protocol/v2/constants.ts';
import type { Answer, Call, CallInput, CallName, CallResults } from '../call.ts';
import { clockFailure } from '../clock.ts';
import { failureOf, startDeadline } from '../deadline.ts';
import { type Failure, failure, untrusted } from '../failure.ts';
import { createHttp, withJsonBody } from '../http.ts';
import type { Settings } from '../options.ts';
import { openCallAnswer, statementIn } from './call-answer.ts';
import { callRefusalOf } from './call-refusal.ts';
import { createKeyHolder, type HeldKey } from './key-holder.ts';
import { notJudged } from './not-judged.ts';
import { requestPlaintext, sealRequest } from './sealed-request.ts';
import type { ServiceClock } from './service-clock.ts';

export interface CallObserver {
  readonly clock: ServiceClock;
  /** Is told the service's time in Unix seconds, from each answer that can be trusted. */
  readonly onSignedTime: (time: number) => void;
}

/** Asks over version 2 of the protocol: one request and one answer, without a session. */
export function createCall(settings: Settings, { clock, onSignedTime }: CallObserver): Call<CallName> {
  const { appId, version, timeoutMs, runTime } = settings;
  const http = createHttp(settings.baseUrl, settings.fetch);
  const keys = createKeyHolder(http, settings);

  /** Asks once, under a fresh ephemeral key. */
  async function ask<Name extends CallName>({ key }: HeldKey, input: CallInput<Name>, signal: AbortSignal) {
    const { call, members } = input;
    const head = { v: protocolVersion, call, app: appId, version, time: clock.seconds() };
    const request = await sealRequest(key, requestPlaintext(members, head));
    if (request === null) return untrusted("The service's key is of small order");
    const headers = { 'content-type': requestMediaType };
    // A copy, because a fetch takes no view of shared memory.
    const body = Uint8Array.from(request.body);
    const answer = await http({ method: 'POST', path: callPath, headers, body }, signal);
    if (answer.kind === 'failure') return answer;
    if (answer.status !== 200) return callRefusalOf(withJsonBody(answer));
    const opened = openCallAnswer(answer.body, { request, call, settings });
    if (opened.kind === 'answer') {
      onSignedTime(opened.inner.time);
      const statement = statementIn(opened.inner);
      if (statement !== null) await keys.learn(statement);
      return notJudged(opened.inner, answer.retryAfterSeconds) ?? opened;
    }
    return opened;
  }

  /** Asks again once with a new key, and once with a corrected clock: nothing was judged in either case. */
  async function askUntilJudged<Name extends CallName>(
    input: CallInput<Name>,
    signal: AbortSignal,
  ): Promise<Answer<CallResults[Name]> | Failure> {
    let isKeyRenewed = false;
    let isClockCorrected = false;
    let key = await keys.current(signal);
    for (;;) {
      if (key.kind === 'failure') return key;
      const outcome = await ask(key, input, signal);
      if (outcome.kind === 'failure') {
        if (outcome.code !== 'KEY_UNKNOWN' || isKeyRenewed) return outcome;
        isKeyRenewed = true;
        key = await keys.renew(key, signal);
        continue;
      }
      const { inner } = outcome;
      if (inner.success || inner.code !== 'CLOCK_SKEW') return outcome;
      if (isClockCorrected) return { ...clockFailure(), code: inner.code, signed: true };
      isClockCorrected = true;
      clock.learn(inner.time);
      // The answer may have brought a newer key.
      key = await keys.current(signal);
    }
  }

  return async (input) => {
    const startedAt = runTime();
    const { signal, end } = startDeadline(timeoutMs, input.signal);
    try {
      signal.throwIfAborted();
      const outcome = await askUntilJudged(input, signal);
      // A timer may be late, as after a suspension.
      if (runTime() - startedAt <= timeoutMs) return outcome;
      return failure('timeout', `No answer within ${timeoutMs} ms`);
    } catch (thrown) {
      return failureOf(thrown, signal);
    } finally {
      end();
    }
  };
}
