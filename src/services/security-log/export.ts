import type { ServiceContext } from '../context.ts';
import { type Pages, pagesOf } from '../export-pages.ts';
import { type SecurityLogView, securityLogSelect, securityLogView } from './view.ts';

/** The newest entries of the security log that an export has. */
const maxEntries = 10_000;

/**
 * The security log in an export.
 * @param owner SQL condition that selects the owner's entries. They include entries with a time in the future, made while a clock was ahead
 */
export const exportedLog = (
  ctx: ServiceContext,
  owner:
    | {
        readonly developerId: string;
        readonly NOT: { readonly id: { readonly gte: string; readonly lte: string } };
      }
    | { readonly applicationId: string },
): Pages<SecurityLogView> =>
  pagesOf(
    ctx,
    owner,
    async (page) => {
      const { prisma } = ctx.env.database;
      const rows = await prisma.securityLogEntry.findMany({ ...page, select: securityLogSelect });
      return rows.map(securityLogView);
    },
    { maxRows: maxEntries },
  );
