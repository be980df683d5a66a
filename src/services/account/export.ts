import { newId } from '../../lib/ids.ts';
import { accountSessionSelect } from '../account-session/view.ts';
import { requireDeveloper } from '../actor.ts';
import { apiKeySelect, apiKeyView } from '../api-key/view.ts';
import { applicationSelect, applicationView } from '../application/view.ts';
import { me } from '../auth/me.ts';
import { banSelect } from '../ban/view.ts';
import type { ServiceContext } from '../context.ts';
import { readDevices } from '../device/read.ts';
import { endUserSelect, endUserView } from '../end-user/view.ts';
import { fewRows, oneByOne, type Pages, pagesOf } from '../export-pages.ts';
import { findShownLicenses } from '../license/find-shown.ts';
import { type LicenseRow, licenseView } from '../license/view.ts';
import { policySelect, policyView } from '../policy/view.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { exportedLog } from '../security-log/export.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { webhookSelect, webhookView } from '../webhook/view.ts';

export type AccountExport = Awaited<ReturnType<typeof exportAccount>>;

/**
 * Exports all of a developer's data: account, applications, policies, licenses (without keys) with their devices, users, bans,
 * API keys, sessions, webhooks (without secrets), and the newest entries of the security log. Lists are read on demand. The
 * export is recorded in the log before any data is returned; it does not include its own entry.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, CONFIRMATION_REQUIRED
 */
export async function exportAccount({ ctx }: { ctx: ServiceContext }) {
  const developerId = requireDeveloper(
    ctx.actor,
    'account:read',
    'applications:read',
    'licenses:read',
    'users:read',
    'logs:read',
    'webhooks:read',
  );
  await requireConfirmation(ctx);
  const { prisma } = ctx.env.database;
  const now = new Date(ctx.env.clock.now());
  const developer = await me({ ctx });
  const exportStart = newId();
  await developerTransaction(ctx, developerId, (transaction) =>
    recordSecurityEvent(ctx, transaction, { developerId, applicationId: null, event: 'account_exported' }),
  );
  // Read again for each list, because there may be more applications than fit in memory.
  const owners = () =>
    pagesOf(ctx, { developerId }, (page) => prisma.application.findMany({ ...page, select: { id: true } }));
  return {
    exportedAt: now,
    developer,
    applications: pagesOf(
      ctx,
      { developerId },
      async (page) => {
        const rows = await prisma.application.findMany({ ...page, select: applicationSelect });
        return rows.map(applicationView);
      },
      { pageSize: fewRows },
    ),
    apiKeys: pagesOf(ctx, { developerId }, async (page) => {
      const rows = await prisma.apiKey.findMany({ ...page, select: apiKeySelect });
      return rows.map(apiKeyView);
    }),
    sessions: pagesOf(ctx, { developerId }, (page) =>
      prisma.accountSession.findMany({ ...page, select: accountSessionSelect }),
    ),
    webhooks: pagesOf(ctx, { developerId }, async (page) => {
      const rows = await prisma.webhook.findMany({ ...page, select: webhookSelect });
      return rows.map(webhookView);
    }),
    licenses: oneByOne(owners(), ({ id: applicationId }) =>
      withDevices(
        ctx,
        pagesOf(ctx, { applicationId }, (page) => findShownLicenses(ctx.env.database, page)),
        now,
      ),
    ),
    policies: oneByOne(owners(), ({ id: applicationId }) =>
      pagesOf(
        ctx,
        { applicationId },
        async (page) => {
          const rows = await prisma.policy.findMany({ ...page, select: policySelect });
          return rows.map(policyView);
        },
        { pageSize: fewRows },
      ),
    ),
    users: oneByOne(owners(), ({ id: applicationId }) =>
      pagesOf(ctx, { applicationId }, async (page) => {
        const rows = await prisma.endUser.findMany({ ...page, select: endUserSelect });
        return rows.map(endUserView);
      }),
    ),
    bans: oneByOne(owners(), ({ id: applicationId }) =>
      pagesOf(ctx, { applicationId }, (page) =>
        prisma.ban.findMany({ ...page, select: { ...banSelect, applicationId: true } }),
      ),
    ),
    securityLog: exportedLog(ctx, { developerId, NOT: { id: { gte: exportStart, lte: newId() } } }),
  };
}

/** Adds each license's devices, after the licenses' own turn has ended. */
async function* withDevices(ctx: ServiceContext, pages: Pages<LicenseRow>, now: Date) {
  for await (const licenses of pages) {
    const devicesOf = await readDevices(
      ctx,
      licenses.map(({ id }) => id),
    );
    yield licenses.map((license) => ({ ...licenseView(license, now), devices: devicesOf(license.id) }));
  }
}
