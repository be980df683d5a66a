import { newId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import { listApiKeys } from '../api-key/list.ts';
import { listApplications } from '../application/list.ts';
import { me } from '../auth/me.ts';
import { banSelect } from '../ban/list.ts';
import type { ServiceContext } from '../context.ts';
import { endUserSelect, endUserView } from '../end-user/view.ts';
import { oneByOne, type PageBounds, pagesOf } from '../export-pages.ts';
import { licenseSelect, licenseView } from '../license/view.ts';
import { securityLogSelect } from '../security-log/list.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';

/** The newest entries of the security log that an export has. */
export const mostExportedLogEntries = 10_000;

export type AccountExport = Awaited<ReturnType<typeof exportAccount>>;

/**
 * All that is kept of a developer: account, applications, licenses (without keys), users, bans, API keys, and the
 * newest entries of the security log. Long lists are read as they are asked for. The export is noted in the log before
 * anything is handed out, and does not show its own note.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function exportAccount({ ctx }: { ctx: ServiceContext }) {
  const developerId = requireDeveloper(ctx.actor);
  const { prisma } = ctx.env.database;
  const now = new Date(ctx.env.clock.now());
  const applications = await listApplications({ ctx });
  const exported = {
    exportedAt: now,
    developer: await me({ ctx }),
    applications,
    apiKeys: await listApiKeys({ ctx }),
  };
  const noted = newId();
  await developerTransaction(ctx, developerId, (transaction) =>
    recordSecurityEvent(ctx, transaction, { developerId, applicationId: null, event: 'account_exported' }),
  );
  const within = ({ id: applicationId }: { readonly id: string }, { where, ...bounds }: PageBounds) =>
    ({ ...bounds, where: { ...where, applicationId } }) as const;
  return {
    ...exported,
    licenses: oneByOne(applications, (owner) =>
      pagesOf(async (bounds) => {
        const rows = await prisma.license.findMany({ ...within(owner, bounds), select: licenseSelect });
        return rows.map((row) => licenseView(row, now));
      }),
    ),
    users: oneByOne(applications, (owner) =>
      pagesOf(async (bounds) => {
        const rows = await prisma.endUser.findMany({ ...within(owner, bounds), select: endUserSelect });
        return rows.map(endUserView);
      }),
    ),
    bans: oneByOne(applications, (owner) =>
      pagesOf((bounds) =>
        prisma.ban.findMany({ ...within(owner, bounds), select: { ...banSelect, applicationId: true } }),
      ),
    ),
    securityLog: pagesOf(
      ({ where, ...bounds }) =>
        prisma.securityLogEntry.findMany({
          ...bounds,
          where: { ...where, developerId },
          select: securityLogSelect,
        }),
      { first: noted, most: mostExportedLogEntries },
    ),
  };
}
