import type { Prisma } from '../../db/client.ts';

/** The columns of an end user that the developer can read; the password hash is never read. */
export const endUserSelect = {
  id: true,
  applicationId: true,
  username: true,
  email: true,
  licenseId: true,
  lastIp: true,
  lastHwid: true,
  createdAt: true,
  updatedAt: true,
  license: { select: { subscriptionTier: true } },
} as const satisfies Prisma.EndUserSelect;

export type EndUserRow = Prisma.EndUserGetPayload<{ select: typeof endUserSelect }>;

export interface EndUserView extends Omit<EndUserRow, 'license'> {
  /** Tier of the linked license; null without one. */
  readonly subscriptionTier: number | null;
}

export const endUserView = ({ license, ...user }: EndUserRow): EndUserView => ({
  ...user,
  subscriptionTier: license?.subscriptionTier ?? null,
});
