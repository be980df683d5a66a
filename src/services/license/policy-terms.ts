import type { Prisma } from '../../db/client.ts';
import { readEntitlements, readMetadata } from './entitlements.ts';
import type { LicenseTerms } from './terms.ts';
import { movesOf } from './view.ts';

/** The columns of a policy that its licenses get. */
export const policyTermsSelect = {
  durationSeconds: true,
  startsAt: true,
  subscriptionTier: true,
  deviceLimit: true,
  selfService: true,
  moveCount: true,
  movePeriodSeconds: true,
  cooldownSeconds: true,
  releaseIdleAfterSeconds: true,
  graceSeconds: true,
  leaseSeconds: true,
  entitlements: true,
  metadata: true,
  keyMask: true,
} as const satisfies Prisma.PolicySelect;

type PolicyTermsRow = Prisma.PolicyGetPayload<{ select: typeof policyTermsSelect }>;

/** What a policy says about new licenses. */
export interface PolicyTerms extends LicenseTerms {
  readonly durationSeconds: number;
  readonly startsAt: PolicyTermsRow['startsAt'];
  /** The pattern of new keys; null: the developer's. */
  readonly keyMask: string | null;
}

/** Replaces the columns of a row that are stored in another form than they are shown. */
export const policyTerms = <Row extends PolicyTermsRow>({
  moveCount,
  movePeriodSeconds,
  entitlements,
  metadata,
  ...row
}: Row) => ({
  ...row,
  moves: movesOf({ moveCount, movePeriodSeconds }),
  entitlements: readEntitlements(entitlements),
  metadata: readMetadata(metadata),
});
