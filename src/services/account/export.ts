import { requireDeveloper } from '../actor.ts';
import { listApiKeys } from '../api-key/list.ts';
import { listApplications } from '../application/list.ts';
import { me } from '../auth/me.ts';
import { banSelect } from '../ban/list.ts';
import type { ServiceContext } from '../context.ts';
import { endUserSelect, endUserView } from '../end-user/view.ts';
import { licenseSelect, licenseView } from '../license/view.ts';
import { securityLogSelect } from '../security-log/list.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';

/** The newest entries of the security log that an export has. */
export const mostExportedLogEntries = 10_000;

export type AccountExport = Awaited<ReturnType<typeof exportAccount>>;

/**
 * All that is kept of a developer: account, applications, licenses (without keys), users, bans, API keys, and the
 * newest entries of the security log. The export is noted in the log, after what it shows.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function exportAccount({ ctx }: { ctx: ServiceContext }) {
  const developerId = requireDeveloper(ctx.actor);
  const { prisma } = ctx.env.database;
  const now = new Date(ctx.env.clock.now());
  const owned = { where: { application: { developerId } }, orderBy: { id: 'desc' } } as const;
  const exported = {
    exportedAt: now,
    developer: await me({ ctx }),
    applications: await listApplications({ ctx }),
    licenses: (await prisma.license.findMany({ ...owned, select: licenseSelect })).map((row) =>
      licenseView(row, now),
    ),
    users: (await prisma.endUser.findMany({ ...owned, select: endUserSelect })).map(endUserView),
    bans: await prisma.ban.findMany({ ...owned, select: { ...banSelect, applicationId: true } }),
    apiKeys: await listApiKeys({ ctx }),
    securityLog: await prisma.securityLogEntry.findMany({
      where: { developerId },
      orderBy: { id: 'desc' },
      take: mostExportedLogEntries,
      select: securityLogSelect,
    }),
  };
  await developerTransaction(ctx, developerId, (transaction) =>
    recordSecurityEvent(ctx, transaction, { developerId, applicationId: null, event: 'account_exported' }),
  );
  return exported;
}
