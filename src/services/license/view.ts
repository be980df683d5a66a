import type { Prisma } from '../../db/client.ts';
import { graceEndsAt, isExpired } from './decide.ts';
import { type Entitlements, type LicenseMetadata, readEntitlements, readMetadata } from './entitlements.ts';

/** The columns of a license that its owner can read; the key's hash is never read. */
export const licenseSelect = {
  id: true,
  applicationId: true,
  keyPrefix: true,
  status: true,
  subscriptionTier: true,
  durationSeconds: true,
  activatedAt: true,
  expiresAt: true,
  graceSeconds: true,
  suspendedAt: true,
  suspensionReason: true,
  clockStoppedAt: true,
  hwid: true,
  deviceHash: true,
  deviceLimit: true,
  deviceCount: true,
  selfService: true,
  moveCount: true,
  movePeriodSeconds: true,
  cooldownSeconds: true,
  releaseIdleAfterSeconds: true,
  leaseSeconds: true,
  policyId: true,
  entitlements: true,
  metadata: true,
  tags: true,
  lastIp: true,
  note: true,
  noteCiphertextB64: true,
  createdAt: true,
  updatedAt: true,
} as const satisfies Prisma.LicenseSelect;

export type LicenseRow = Prisma.LicenseGetPayload<{ select: typeof licenseSelect }>;

/** How often customers may move devices. */
export interface Moves {
  readonly count: number;
  readonly periodSeconds: number;
}

/** `expired` and `suspended` are derived, never stored. A banned license is banned, whatever else it is. */
export type ShownLicenseStatus = LicenseRow['status'] | 'suspended' | 'expired';

export type LicenseView = Omit<
  LicenseRow,
  | 'status'
  | 'deviceHash'
  | 'clockStoppedAt'
  | 'moveCount'
  | 'movePeriodSeconds'
  | 'entitlements'
  | 'metadata'
  | 'deviceCount'
> & {
  readonly status: ShownLicenseStatus;
  readonly deviceCount: number;
  /** Whether more devices are bound than the limit allows, because it was lowered. */
  readonly overLimit: boolean;
  /** Null: any number. */
  readonly moves: Moves | null;
  /** While the license is only valid because of its grace. */
  readonly graceEndsAt: Date | null;
  /** Whether the suspension keeps the remaining term. */
  readonly clockStopped: boolean;
  readonly entitlements: Entitlements;
  readonly metadata: LicenseMetadata;
};

type Stateful = Pick<LicenseRow, 'status' | 'expiresAt' | 'suspendedAt' | 'clockStoppedAt'>;

export const shownStatus = (license: Stateful, now: Date): ShownLicenseStatus => {
  if (license.status === 'banned') return 'banned';
  if (license.suspendedAt !== null) return 'suspended';
  return isExpired(license, now) ? 'expired' : license.status;
};

/** The number of a license's active devices. */
export const deviceCountOf = ({
  deviceCount,
  hwid,
  deviceHash,
}: Pick<LicenseRow, 'deviceCount' | 'hwid' | 'deviceHash'>): number =>
  deviceCount ?? (hwid === null && deviceHash === null ? 0 : 1);

export const movesOf = ({
  moveCount,
  movePeriodSeconds,
}: Pick<LicenseRow, 'moveCount' | 'movePeriodSeconds'>): Moves | null =>
  moveCount === null || movePeriodSeconds === null
    ? null
    : { count: moveCount, periodSeconds: movePeriodSeconds };

export const licenseView = (row: LicenseRow, now: Date): LicenseView => {
  const { deviceHash: _, clockStoppedAt, moveCount: __, movePeriodSeconds: ___, ...shown } = row;
  const deviceCount = deviceCountOf(row);
  return {
    ...shown,
    status: shownStatus(row, now),
    deviceCount,
    overLimit: deviceCount > row.deviceLimit,
    moves: movesOf(row),
    graceEndsAt: graceEndsAt(row, now),
    clockStopped: clockStoppedAt !== null,
    entitlements: readEntitlements(row.entitlements),
    metadata: readMetadata(row.metadata),
  };
};
