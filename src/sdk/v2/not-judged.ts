import type { CallResults } from '../call.ts';
import { type Failure, type FailureReason, failure } from '../failure.ts';

/** Signed codes by which the service says that it has not judged the request, except CLOCK_SKEW. */
const reasons: Readonly<Record<string, FailureReason>> = {
  RATE_LIMITED: 'rate-limited',
  UNAVAILABLE: 'unavailable',
  REPLAY: 'server-rejected',
};

/** The failure that a signed answer stands for; null if it is a verdict or CLOCK_SKEW. */
export function notJudged(
  answer: CallResults[keyof CallResults],
  retryAfterSeconds: number | undefined,
): Failure | null {
  if (answer.success || !Object.hasOwn(reasons, answer.code)) return null;
  const { code, message } = answer;
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return failure(reasons[code] ?? 'unavailable', message, { code, signed: true, ...retry });
}
