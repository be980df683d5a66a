import { plaintextError } from '../protocol/messages.ts';
import { type Failure, failure, untrusted } from './failure.ts';
import type { HttpAnswer } from './http.ts';

/** Converts an HTTP response whose status is not 200 to a failure (SPEC §11). */
export function refusalOf({ status, retryAfterSeconds, body }: HttpAnswer): Failure {
  const parsed = plaintextError.safeParse(body);
  const code = parsed.success ? { code: parsed.data.code } : {};
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  const message = parsed.success ? parsed.data.error : `The service returned HTTP ${status}`;
  if (status === 429) return failure('rate-limited', message, { ...code, ...retry });
  if (status >= 500) return failure('unavailable', message, { ...code, ...retry });
  if (!parsed.success || status < 400)
    return untrusted(`HTTP ${status} with a body that does not follow the protocol`);
  if (parsed.data.code === 'CLOCK_SKEW') return failure('clock', message, code);
  return failure('server-rejected', message, code);
}
