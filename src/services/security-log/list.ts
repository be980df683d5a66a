import type { z } from 'zod';
import type { Prisma } from '../../db/client.ts';
import { requireOwnApplication } from '../application/require-own.ts';
import type { ServiceContext } from '../context.ts';
import { type Page, pageArguments, type pageInput, toPage } from '../page.ts';
import { containsText } from '../search.ts';

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

/** Entries that hold the text in their event, code, address, country or HWID. */
export function securityLogSearch(q: string | undefined): Prisma.SecurityLogEntryWhereInput {
  if (q === undefined || q === '') return {};
  const contains = containsText(q);
  return {
    OR: [
      { event: contains },
      { code: contains },
      { ip: contains },
      { country: contains },
      { hwid: contains },
    ],
  };
}

/**
 * A page of an application's security log, newest first. Validations of the last quarter second may not be in it yet.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function listSecurityLog({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: { applicationId: string; page: z.output<typeof pageInput> };
}): Promise<Page<SecurityLogView>> {
  const applicationId = await requireOwnApplication(ctx, input.applicationId);
  const { where, ...page } = pageArguments(input.page);
  const rows = await ctx.env.database.prisma.securityLogEntry.findMany({
    where: { applicationId, AND: [where ?? {}, securityLogSearch(input.page.q)] },
    ...page,
    select: securityLogSelect,
  });
  return toPage(rows, input.page.limit);
}
