import type { Prisma } from '../../db/client.ts';
import { requireOwnApplication } from '../application/require-own.ts';
import type { ServiceContext } from '../context.ts';
import type { ListInput, Page } from '../page.ts';
import { readList } from '../read-list.ts';
import { bansOfApplications } from './lists.ts';

/** The readable columns of a ban. */
export const banSelect = {
  id: true,
  banType: true,
  value: true,
  sourceLicenseId: true,
  createdAt: true,
} as const satisfies Prisma.BanSelect;

export type BanView = Prisma.BanGetPayload<{ select: typeof banSelect }>;

/**
 * Lists the bans of an application, newest first; as a whole if the list is short enough.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function listBans({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: { applicationId: string; list: ListInput };
}): Promise<Page<BanView>> {
  const applicationId = await requireOwnApplication(ctx, input.applicationId);
  return readList<BanView, BanView>(
    ctx,
    bansOfApplications,
    applicationId,
    input.list,
    ({ id, banType, value, sourceLicenseId, createdAt }) => ({
      id,
      banType,
      value,
      sourceLicenseId,
      createdAt,
    }),
  );
}
