import { requireOwnApplication } from '../application/require-own.ts';
import { banSelect } from '../ban/list.ts';
import type { ServiceContext } from '../context.ts';
import { pagesOf } from '../export-pages.ts';
import { shownStatus } from '../license/view.ts';
import { exportedLog } from '../security-log/export.ts';
import { endUserSelect } from './view.ts';

/** What an export has of an end user's license. */
const exportedLicense = {
  id: true,
  keyPrefix: true,
  status: true,
  expiresAt: true,
  subscriptionTier: true,
  hwid: true,
  lastIp: true,
} as const;

const exportedUser = {
  ...endUserSelect,
  license: { select: exportedLicense },
  sessions: {
    select: { id: true, ip: true, hwid: true, createdAt: true, expiresAt: true },
    orderBy: { id: 'desc' },
  },
} as const;

export type EndUserExport = Awaited<ReturnType<typeof exportEndUsers>>;

/**
 * All that is kept of an application's end users, for a data subject's request: their accounts, licenses and sessions,
 * the application's bans, and the newest entries of its security log. No password hash and no token is in it. Long
 * lists are read as they are asked for.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function exportEndUsers({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: { applicationId: string };
}) {
  const applicationId = await requireOwnApplication(ctx, input.applicationId);
  const { prisma } = ctx.env.database;
  const now = new Date(ctx.env.clock.now());
  return {
    exportedAt: now,
    applicationId,
    users: pagesOf({ applicationId }, async (page) => {
      const users = await prisma.endUser.findMany({ ...page, select: exportedUser });
      return users.map(({ license, ...user }) => ({
        ...user,
        subscriptionTier: license?.subscriptionTier ?? null,
        license: license && { ...license, status: shownStatus(license, now) },
      }));
    }),
    bans: pagesOf({ applicationId }, (page) => prisma.ban.findMany({ ...page, select: banSelect })),
    securityLog: exportedLog(ctx.env.database, { applicationId }),
  };
}
