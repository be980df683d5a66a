import type { FailureVerdictCode } from '../protocol/messages.ts';
import type { CallResults, LicenseSaid, Values } from './call.ts';

/** What is known about a valid license. */
export interface LicenseDetails {
  readonly status: string;
  /** Null if the license never expires. */
  readonly expiresAt: Date | null;
  readonly subscriptionTier: number;
  /**
   * While the license is valid only because of its grace: when that ends, which is the time to renew. Otherwise null; a
   * lease does not tell it.
   */
  readonly graceEndsAt: Date | null;
  /** What the customer has bought, by code. Compare values: `entitlements['export.pdf'] === true`. */
  readonly entitlements: Values;
  /** What the vendor tells the program. Empty in a lease. */
  readonly metadata: Values;
}

/** The service's signed confirmation that the license is valid. */
export interface ValidVerdict extends LicenseDetails {
  readonly kind: 'verdict';
  readonly valid: true;
  readonly code: 'OK';
  readonly message: string;
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
  /** With DEVICE_RELEASED: when the device was released from the license. */
  readonly releasedAt?: Date;
  /** With MOVE_COOLDOWN: when the next move is possible. */
  readonly retryAt?: Date;
  /** With MOVES_EXHAUSTED: when there are moves again. Absent if there will be none. */
  readonly resetsAt?: Date;
}

/** The verdict of an answer to `validate`. */
export function verdictOf(inner: CallResults['validate' | 'lease']): ValidVerdict | InvalidVerdict {
  if (!inner.success) return refusedBy(inner);
  const { code, message } = inner;
  return { kind: 'verdict', valid: true, code, message, ...detailsOf(inner), source: 'service' };
}

export const detailsOf = ({
  status,
  expiresAt,
  subscriptionTier,
  graceEndsAt,
  entitlements = {},
  metadata = {},
}: LicenseSaid): LicenseDetails => ({
  status,
  expiresAt: expiresAt === null ? null : new Date(expiresAt),
  subscriptionTier,
  graceEndsAt: graceEndsAt === undefined ? null : new Date(graceEndsAt),
  entitlements,
  metadata,
});

export function refusedBy(refusal: Extract<CallResults['validate'], { success: false }>): InvalidVerdict {
  const { code, message, releasedAt, retryAt, resetsAt } = refusal;
  return {
    kind: 'verdict',
    valid: false,
    code,
    message,
    source: 'service',
    ...(releasedAt !== undefined && { releasedAt: new Date(releasedAt) }),
    ...(retryAt !== undefined && { retryAt: new Date(retryAt) }),
    ...(resetsAt !== undefined && { resetsAt: new Date(resetsAt) }),
  };
}
