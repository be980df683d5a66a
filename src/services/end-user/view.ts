import type { Prisma } from '../../db/client.ts';

/** What the developer is shown of an end user: selected, so that the password's hash is never read. */
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
  /** Of the linked license; null without one. */
  readonly subscriptionTier: number | null;
}

export const endUserView = ({ license, ...user }: EndUserRow): EndUserView => ({
  ...user,
  subscriptionTier: license?.subscriptionTier ?? null,
});
