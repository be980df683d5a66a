import { clientPaths } from '../protocol/constants.ts';
import { type FailureVerdictCode, validateResult } from '../protocol/messages.ts';
import type { Failure } from './failure.ts';
import type { SealedCall } from './sealed-call.ts';

export interface ValidateOptions {
  /** What identifies this device, 1 to 256 characters. Left out, the license is not checked against a device. */
  readonly hwid?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The service's signed word that the license is good. */
export interface ValidVerdict {
  readonly kind: 'verdict';
  readonly valid: true;
  readonly code: 'OK';
  readonly message: string;
  readonly status: string;
  /** Null: the license never expires. */
  readonly expiresAt: Date | null;
  readonly subscriptionTier: number;
}

/** The service's signed refusal. */
export interface InvalidVerdict {
  readonly kind: 'verdict';
  readonly valid: false;
  /** One of the known codes, or one that a later server has added. */
  readonly code: FailureVerdictCode | (string & {});
  /** For people; the developer can edit it. */
  readonly message: string;
}

export type ValidateOutcome = ValidVerdict | InvalidVerdict | Failure;

/** Asks the service about a license key. Never rejects: what goes wrong is a {@link Failure}. */
export async function validate(
  call: SealedCall,
  licenseKey: string,
  options?: ValidateOptions | null,
): Promise<ValidateOutcome> {
  // JavaScript can pass null for nothing.
  const { hwid, signal } = options ?? {};
  const members = hwid === undefined ? { licenseKey } : { licenseKey, hwid };
  const answer = await call({ path: clientPaths.validate, members, result: validateResult, signal });
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
