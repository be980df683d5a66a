import type { Prisma } from '../../db/client.ts';

/** The readable columns of a ban. */
export const banSelect = {
  id: true,
  banType: true,
  value: true,
  sourceLicenseId: true,
  createdAt: true,
} as const satisfies Prisma.BanSelect;

export type BanView = Prisma.BanGetPayload<{ select: typeof banSelect }>;

/** With the application, for lists of bans by something else. */
export type BanRow = BanView & { readonly applicationId: string };

export const banView = ({ applicationId, ...ban }: BanRow): BanView => ban;
