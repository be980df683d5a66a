import type { Call } from './call.ts';
import type { Failure } from './failure.ts';
import { type InvalidVerdict, type ValidVerdict, verdictOf } from './verdict.ts';

export interface ValidateOptions {
  /** Identifier of this device, 1 to 256 characters. If omitted, device checks are skipped, and there is no lease. */
  readonly hwid?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type ValidateOutcome = ValidVerdict | InvalidVerdict | Failure;

/** Validates a license key. Never rejects; errors are returned as a {@link Failure}. */
export async function validate(
  call: Call,
  licenseKey: string,
  options?: ValidateOptions | null,
): Promise<ValidateOutcome> {
  // JavaScript callers can pass null.
  const { hwid, signal } = options ?? {};
  const members = hwid === undefined ? { licenseKey } : { licenseKey, hwid };
  const answer = await call({ call: 'validate', members, signal });
  return answer.kind === 'failure' ? answer : verdictOf(answer.inner);
}
