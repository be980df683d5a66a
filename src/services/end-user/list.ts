import type { z } from 'zod';
import type { Prisma } from '../../db/client.ts';
import { requireOwnApplication } from '../application/require-own.ts';
import type { ServiceContext } from '../context.ts';
import { type Page, pageArguments, type pageInput, toPage } from '../page.ts';
import { containsText } from '../search.ts';
import { type EndUserView, endUserSelect, endUserView } from './view.ts';

/** Users that hold the text in their name, email, last address or last HWID. */
export function endUserSearch(q: string | undefined): Prisma.EndUserWhereInput {
  if (q === undefined || q === '') return {};
  const contains = containsText(q);
  return { OR: [{ username: contains }, { email: contains }, { lastIp: contains }, { lastHwid: contains }] };
}

/**
 * A page of an application's end users, newest first.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function listEndUsers({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: { applicationId: string; page: z.output<typeof pageInput> };
}): Promise<Page<EndUserView>> {
  const applicationId = await requireOwnApplication(ctx, input.applicationId);
  const { where, ...page } = pageArguments(input.page);
  const rows = await ctx.env.database.prisma.endUser.findMany({
    where: { applicationId, AND: [where ?? {}, endUserSearch(input.page.q)] },
    ...page,
    select: endUserSelect,
  });
  const { items, nextCursor } = toPage(rows, input.page.limit);
  return { items: items.map(endUserView), nextCursor };
}
