import type { z } from 'zod';
import { sha256 } from '../../crypto/hash.ts';
import type { Prisma } from '../../db/client.ts';
import { requireOwnApplication } from '../application/require-own.ts';
import type { ServiceContext } from '../context.ts';
import { type Page, pageArguments, type pageInput, toPage } from '../page.ts';
import { containsText } from '../search.ts';
import { type LicenseView, licenseSelect, licenseView } from './view.ts';

/** Licenses that hold the text in their key's prefix, note, HWID or last address; or whose whole key it is. */
export function licenseSearch(q: string | undefined): Prisma.LicenseWhereInput {
  if (q === undefined || q === '') return {};
  const contains = containsText(q);
  return {
    OR: [
      { keyPrefix: contains },
      { note: contains },
      { hwid: contains },
      { lastIp: contains },
      { keyHash: sha256(q) },
    ],
  };
}

/**
 * A page of an application's licenses, newest first.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function listLicenses({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: { applicationId: string; page: z.output<typeof pageInput> };
}): Promise<Page<LicenseView>> {
  const applicationId = await requireOwnApplication(ctx, input.applicationId);
  const { where, ...page } = pageArguments(input.page);
  const rows = await ctx.env.database.prisma.license.findMany({
    where: { applicationId, AND: [where ?? {}, licenseSearch(input.page.q)] },
    ...page,
    select: licenseSelect,
  });
  const now = new Date(ctx.env.clock.now());
  const { items, nextCursor } = toPage(rows, input.page.limit);
  return { items: items.map((row) => licenseView(row, now)), nextCursor };
}
