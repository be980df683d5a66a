import { type FailureVerdictCode, validateResult } from '../protocol/messages.ts';
import type { Failure } from './failure.ts';
import type { SealedCall } from './sealed-call.ts';

export interface ValidateOptions {
  /** Identifier of this device, 1 to 256 characters. If omitted, device checks are skipped. */
  readonly hwid?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The service's signed confirmation that the license is valid. */
export interface ValidVerdict {
  readonly kind: 'verdict';
  readonly valid: true;
  readonly code: 'OK';
  readonly message: string;
  readonly status: string;
  /** Null if the license never expires. */
  readonly expiresAt: Date | null;
  readonly subscriptionTier: number;
}

/** The service's signed refusal. */
export interface InvalidVerdict {
  readonly kind: 'verdict';
  readonly valid: false;
  /** A known code, or one that a later server version added. */
  readonly code: FailureVerdictCode | (string & {});
  /** For people; the developer can customize it. */
  readonly message: string;
}

export type ValidateOutcome = ValidVerdict | InvalidVerdict | Failure;

/** Validates a license key. Never rejects; errors are returned as a {@link Failure}. */
export async function validate(
  call: SealedCall,
  licenseKey: string,
  options?: ValidateOptions | null,
): Promise<ValidateOutcome> {
  // JavaScript callers can pass null.
  const { hwid, signal } = options ?? {};
  const members = hwid === undefined ? { licenseKey } : { licenseKey, hwid };
  const answer = await call({ call: 'validate', members, result: validateResult, signal });
  if (answer.kind === 'failure') return answer;
  const { inner } = answer;
  if (!inner.success) return { kind: 'verdict', valid: false, code: inner.code, message: inner.message };
  return {
    kind: 'verdict',
    valid: true,
    code: inner.code,
    message: inner.message,
    status: inner.status,
    expiresAt: inner.expiresAt === null ? null : new Date(inner.expiresAt),
    subscriptionTier: inner.subscriptionTier,
  };
}
