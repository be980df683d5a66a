import type { Prisma } from '../../db/client.ts';
import { requireOwnApplication } from '../application/require-own.ts';
import type { ServiceContext } from '../context.ts';

/** What its owner is shown of a ban (interface, "Ban"). */
export const banSelect = {
  id: true,
  banType: true,
  value: true,
  sourceLicenseId: true,
  createdAt: true,
} as const satisfies Prisma.BanSelect;

export type BanView = Prisma.BanGetPayload<{ select: typeof banSelect }>;

/**
 * All bans of an application, newest first.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function listBans({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: { applicationId: string };
}): Promise<BanView[]> {
  const applicationId = await requireOwnApplication(ctx, input.applicationId);
  return ctx.env.database.prisma.ban.findMany({
    where: { applicationId },
    orderBy: { id: 'desc' },
    select: banSelect,
  });
}
