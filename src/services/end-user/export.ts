import { banSelect } from '../ban/view.ts';
import type { Call, ServiceContext } from '../context.ts';
import { fewRows, type Pages, pagesOf } from '../export-pages.ts';
import { shownStatus } from '../license/view.ts';
import { requireOwnApplication } from '../own-application.ts';
import { exportedLog } from '../security-log/export.ts';
import { readSessions } from './session-lists.ts';
import { endUserSelect } from './view.ts';

/** The exported columns of an end user's license. */
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
} as const;

export type EndUserExport = Awaited<ReturnType<typeof exportEndUsers>>;

/**
 * Exports all data of an application's end users, for data subjects' requests: accounts, licenses and sessions, the
 * application's bans, and the newest entries of its security log. It contains no password hashes or tokens. Lists are read
 * on demand, including the sessions of users who have many.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function exportEndUsers({ ctx, input }: Call<{ applicationId: string }>) {
  const applicationId = await requireOwnApplication(ctx, input.applicationId);
  const { prisma } = ctx.env.database;
  const now = new Date(ctx.env.clock.now());
  return {
    exportedAt: now,
    applicationId,
    users: withSessions(
      ctx,
      pagesOf(ctx, { applicationId }, (page) => prisma.endUser.findMany({ ...page, select: exportedUser }), {
        pageSize: fewRows,
      }),
      ({ license, ...user }) => ({
        ...user,
        subscriptionTier: license?.subscriptionTier ?? null,
        license: license && { ...license, status: shownStatus(license, now) },
      }),
    ),
    bans: pagesOf(ctx, { applicationId }, (page) => prisma.ban.findMany({ ...page, select: banSelect })),
    securityLog: exportedLog(ctx, { applicationId }),
  };
}

/** Adds each user's sessions. They are read after the users' own turn has ended, because turns must not be nested. */
async function* withSessions<User extends { readonly id: string }, Shown extends object>(
  ctx: ServiceContext,
  pages: Pages<User>,
  show: (user: User) => Shown,
) {
  for await (const users of pages) {
    const sessionsOf = await readSessions(
      ctx,
      users.map(({ id }) => id),
    );
    yield users.map((user) => ({ ...show(user), sessions: sessionsOf(user.id) }));
  }
}
