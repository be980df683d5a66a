import type { Prisma } from '../../db/client.ts';
import { banSelect } from '../ban/view.ts';
import type { Call, ServiceContext } from '../context.ts';
import { readDevices } from '../device/read.ts';
import { fewRows, type Pages, pagesOf } from '../export-pages.ts';
import { shownStatus } from '../license/view.ts';
import { requireOwnApplication } from '../own-application.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { exportedLog } from '../security-log/export.ts';
import { readSessions } from './session-lists.ts';
import { endUserSelect } from './view.ts';

/** The exported columns of an end user's license. */
const exportedLicense = {
  id: true,
  keyPrefix: true,
  status: true,
  expiresAt: true,
  suspendedAt: true,
  clockStoppedAt: true,
  subscriptionTier: true,
  hwid: true,
  lastIp: true,
} as const;

const exportedView = (
  { suspendedAt, clockStoppedAt, ...license }: Prisma.LicenseGetPayload<{ select: typeof exportedLicense }>,
  now: Date,
) => ({ ...license, status: shownStatus({ ...license, suspendedAt, clockStoppedAt }, now) });

const exportedUser = {
  ...endUserSelect,
  license: { select: exportedLicense },
} as const;

export type EndUserExport = Awaited<ReturnType<typeof exportEndUsers>>;

/**
 * Exports all data of an application's end users, for data subjects' requests: accounts, licenses with their devices, and
 * sessions, the application's bans, and the newest entries of its security log. It contains no password hashes or tokens.
 * Lists are read on demand, including the sessions of users and the devices of licenses that have many.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, CONFIRMATION_REQUIRED, APP_NOT_FOUND
 */
export async function exportEndUsers({ ctx, input }: Call<{ applicationId: string }>) {
  await requireConfirmation(ctx);
  const applicationId = await requireOwnApplication(
    ctx,
    input.applicationId,
    'users:read',
    'licenses:read',
    'logs:read',
  );
  const { prisma } = ctx.env.database;
  const now = new Date(ctx.env.clock.now());
  return {
    exportedAt: now,
    applicationId,
    users: withLists(
      ctx,
      pagesOf(ctx, { applicationId }, (page) => prisma.endUser.findMany({ ...page, select: exportedUser }), {
        pageSize: fewRows,
      }),
      ({ license, ...user }, devices) => ({
        ...user,
        subscriptionTier: license?.subscriptionTier ?? null,
        license: license && { ...exportedView(license, now), devices },
      }),
    ),
    bans: pagesOf(ctx, { applicationId }, (page) => prisma.ban.findMany({ ...page, select: banSelect })),
    securityLog: exportedLog(ctx, { applicationId }),
  };
}

/**
 * Adds each user's sessions, and the devices of their licenses. They are read after the users' own turn has ended, because
 * turns must not be nested.
 */
async function* withLists<
  User extends { readonly id: string; readonly license: { readonly id: string } | null },
  Shown extends object,
>(ctx: ServiceContext, pages: Pages<User>, show: (user: User, devices: DevicesOfOne) => Shown) {
  for await (const users of pages) {
    const sessionsOf = await readSessions(
      ctx,
      users.map(({ id }) => id),
    );
    const devicesOf = await readDevices(
      ctx,
      users.flatMap(({ license }) => license?.id ?? []),
    );
    yield users.map((user) => ({
      ...show(user, user.license === null ? [] : devicesOf(user.license.id)),
      sessions: sessionsOf(user.id),
    }));
  }
}

type DevicesOfOne = ReturnType<Awaited<ReturnType<typeof readDevices>>>;
