import { newId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import { listApiKeys } from '../api-key/list.ts';
import { listApplications } from '../application/list.ts';
import { me } from '../auth/me.ts';
import { banSelect } from '../ban/list.ts';
import type { ServiceContext } from '../context.ts';
import { endUserSelect, endUserView } from '../end-user/view.ts';
import { oneByOne, pagesOf } from '../export-pages.ts';
import { licenseSelect, licenseView } from '../license/view.ts';
import { exportedLog } from '../security-log/export.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';

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
  return {
    ...exported,
    licenses: oneByOne(applications, ({ id: applicationId }) =>
      pagesOf({ applicationId }, async (page) => {
        const rows = await prisma.license.findMany({ ...page, select: licenseSelect });
        return rows.map((row) => licenseView(row, now));
      }),
    ),
    users: oneByOne(applications, ({ id: applicationId }) =>
      pagesOf({ applicationId }, async (page) => {
        const rows = await prisma.endUser.findMany({ ...page, select: endUserSelect });
        return rows.map(endUserView);
      }),
    ),
    bans: oneByOne(applications, ({ id: applicationId }) =>
      pagesOf({ applicationId }, (page) =>
        prisma.ban.findMany({ ...page, select: { ...banSelect, applicationId: true } }),
      ),
    ),
    securityLog: exportedLog(ctx.env.database, { developerId }, noted),
  };
}
