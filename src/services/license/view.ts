import type { Prisma } from '../../db/client.ts';
import { isExpired } from './decide.ts';

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
  hwid: true,
  lastIp: true,
  note: true,
  noteCiphertextB64: true,
  createdAt: true,
  updatedAt: true,
} as const satisfies Prisma.LicenseSelect;

export type LicenseRow = Prisma.LicenseGetPayload<{ select: typeof licenseSelect }>;

/** `expired` is derived, never stored: an active license past its expiry. */
export type ShownLicenseStatus = LicenseRow['status'] | 'expired';

export type LicenseView = Omit<LicenseRow, 'status'> & { readonly status: ShownLicenseStatus };

export const shownStatus = (
  license: Pick<LicenseRow, 'status' | 'expiresAt'>,
  now: Date,
): ShownLicenseStatus => (isExpired(license, now) ? 'expired' : license.status);

export const licenseView = (row: LicenseRow, now: Date): LicenseView => ({
  ...row,
  status: shownStatus(row, now),
});
