import { csvLine, plainCell } from '../../ui/csv.ts';
import type { LicenseRow } from './licenses-page.ts';

export const licenseCsvHeader = csvLine([
  'id',
  'prefix',
  'status',
  'graceEndsAt',
  'tier',
  'devices',
  'deviceLimit',
  'mintedAt',
  'firstUsedAt',
  'expiresAt',
  'durationSeconds',
  'suspendedAt',
  'lastAddress',
  'lastSeenAt',
  'tags',
  'policy',
  'note',
]);

export const licenseCsvLine = (license: LicenseRow): string =>
  csvLine([
    license.id,
    plainCell(license.keyPrefix),
    license.status,
    license.graceEndsAt,
    license.subscriptionTier,
    license.deviceCount,
    license.deviceLimit,
    license.createdAt,
    license.activatedAt,
    license.expiresAt,
    license.durationSeconds,
    license.suspendedAt,
    license.lastIp,
    license.lastSeenAt,
    plainCell(license.tags.join(' ')),
    plainCell(license.policy?.name ?? ''),
    plainCell(license.note ?? ''),
  ]);
