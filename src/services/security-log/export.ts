import type { Database } from '../../db/database.ts';
import { type Pages, pagesOf } from '../export-pages.ts';
import { type SecurityLogView, securityLogSelect } from './list.ts';

/** The newest entries of the security log that an export has. */
const mostEntries = 10_000;

/**
 * The security log in an export.
 * @param owner whose entries
 * @param first the newest id that is not shown any more; null to begin with the newest entry
 */
export const exportedLog = (
  { prisma }: Pick<Database, 'prisma'>,
  owner: { readonly developerId: string } | { readonly applicationId: string },
  first: string | null = null,
): Pages<SecurityLogView> =>
  pagesOf(owner, (page) => prisma.securityLogEntry.findMany({ ...page, select: securityLogSelect }), {
    first,
    most: mostEntries,
  });
