import type { Prisma } from '../../db/client.ts';

/** The columns of an entry that its owner can read. */
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
