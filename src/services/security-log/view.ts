import type { Prisma } from '../../db/client.ts';

/** What its owner is shown of an entry. */
export const securityLogSelect = {
  id: true,
  applicationId: true,
  event: true,
  code: true,
  licenseId: true,
  userId: true,
  ip: true,
  country: true,
  hwid: true,
  metadata: true,
  createdAt: true,
} as const satisfies Prisma.SecurityLogEntrySelect;

export type SecurityLogView = Prisma.SecurityLogEntryGetPayload<{ select: typeof securityLogSelect }>;
