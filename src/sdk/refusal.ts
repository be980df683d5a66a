import { plaintextError } from '../protocol/messages.ts';
import { type Failure, failure, untrusted } from './failure.ts';
import type { HttpAnswer } from './http.ts';

/** The failure that an HTTP answer stands for where its status is not 200 (SPEC §11). */
export function refusalOf({ status, retryAfterSeconds, body }: HttpAnswer): Failure {
  const parsed = plaintextError.safeParse(body);
  const code = parsed.success ? { code: parsed.data.code } : {};
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  const message = parsed.success ? parsed.data.error : `The service answered HTTP ${status}`;
  if (status === 429) return failure('rate-limited', message, { ...code, ...retry });
  if (status >= 500) return failure('unavailable', message, { ...code, ...retry });
  if (!parsed.success || status < 400) return untrusted(`HTTP ${status} without an answer of this protocol`);
  if (parsed.data.code === 'CLOCK_SKEW') return failure('clock', message, code);
  return failure('server-rejected', message, code);
}
