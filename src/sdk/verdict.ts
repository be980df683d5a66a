import type { FailureVerdictCode } from '../protocol/messages.ts';
import type { CallResults } from './call.ts';

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
  /** Where the confirmation comes from: the service's answer to this call, or a lease that it has signed before. */
  readonly source: 'service' | 'lease';
  /** The end of the lease, with source `lease`. */
  readonly leaseExpiresAt?: Date;
}

/** The service's signed refusal. */
export interface InvalidVerdict {
  readonly kind: 'verdict';
  readonly valid: false;
  /** A known code, or one that a later server version added. */
  readonly code: FailureVerdictCode | (string & {});
  /** For people; the developer can customize it. */
  readonly message: string;
  /** Only the service refuses a license. */
  readonly source: 'service';
}

/** The verdict of an answer to `validate`. */
export function verdictOf(inner: CallResults['validate' | 'lease']): ValidVerdict | InvalidVerdict {
  if (!inner.success) return refusedBy(inner);
  const { code, message, status, expiresAt, subscriptionTier } = inner;
  return {
    kind: 'verdict',
    valid: true,
    code,
    message,
    status,
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
    subscriptionTier,
    source: 'service',
  };
}

export function refusedBy({ code, message }: { code: string; message: string }): InvalidVerdict {
  return { kind: 'verdict', valid: false, code, message, source: 'service' };
}
