import { sha256 } from '../../crypto/hash.ts';
import type { Call, ServiceContext } from '../context.ts';
import type { RefusalOutcome } from '../end-user/client-auth.ts';
import { findLicense } from '../license/judge.ts';
import { sameAs } from '../license/license-devices.ts';
import { type LockedLicense, readLocked } from '../license/lock.ts';
import { answerSelfService, type Success } from './answer.ts';
import { type ListedDevice, maxPerPage, pageOf } from './list-page.ts';
import { type AllowanceMembers, allowanceMembers, allowanceOf } from './moves.ts';
import type { Customer, SelfServiceRequest } from './owner.ts';
import { requireSelfService } from './require-self-service.ts';

export interface ListDevicesInput extends SelfServiceRequest {
  /** The device after which the list begins; null for its beginning. */
  readonly after: string | null;
}

type Listed = {
  readonly licenseId: string;
  /** Oldest first. */
  readonly devices: readonly ListedDevice[];
  readonly deviceLimit: number;
  /** The `after` of the next request, if there are more. */
  readonly next?: string;
} & AllowanceMembers;

export type ListDevicesOutcome = (Success & Listed) | RefusalOutcome;

/**
 * Lists the devices that a license is bound to, for its customer.
 * @throws {ProtocolError} SESSION_EXPIRED if the application was deleted
 */
export function listDevices({ ctx, input }: Call<ListDevicesInput>): Promise<ListDevicesOutcome> {
  return answerSelfService(ctx, 'devices.list', input, async (customer, noted): Promise<Listed> => {
    const now = new Date(ctx.env.clock.now());
    const { license } = requireSelfService(await readLicense(ctx, customer), customer, now, noted);
    const { devices, next } = pageOf(await readDevices(ctx, license, customer.request));
    return {
      licenseId: license.id,
      devices,
      deviceLimit: license.deviceLimit,
      ...allowanceMembers(allowanceOf(license, now)),
      ...(next !== null && { next }),
    };
  });
}

/** Reads a license without a lock: nothing is changed. */
async function readLicense(ctx: ServiceContext, { owner }: Customer): Promise<LockedLicense | null> {
  const { prisma } = ctx.env.database;
  if ('licenseKey' in owner) {
    const keyHash = sha256(owner.licenseKey);
    if ((await findLicense(ctx, keyHash)) === null) return null;
    const [license] = await readLocked(prisma, { keyHash, ids: [] });
    return license ?? null;
  }
  const user = await prisma.endUser.findUnique({ where: { id: owner.userId }, select: { licenseId: true } });
  if (user === null || user.licenseId === null) return null;
  const [license] = await readLocked(prisma, { ids: [user.licenseId] });
  return license ?? null;
}

async function readDevices(
  ctx: ServiceContext,
  license: LockedLicense,
  { after, hwid }: ListDevicesInput,
): Promise<ListedDevice[]> {
  const rows = await ctx.env.database.prisma.device.findMany({
    where: { licenseId: license.id, releasedAt: null, ...(after !== null && { id: { gt: after } }) },
    orderBy: { id: 'asc' },
    // One more tells whether there are more.
    take: maxPerPage + 1,
    select: { id: true, name: true, platform: true, firstSeenAt: true, lastSeenAt: true },
  });
  const isAsking = hwid === null ? null : sameAs(license.applicationId, { hwid });
  const asking =
    isAsking === null ? null : license.devices.find((each) => !each.releasedAt && isAsking(each));
  return rows.map(({ firstSeenAt, lastSeenAt, ...device }) => ({
    ...device,
    firstSeenAt: firstSeenAt.toISOString(),
    lastSeenAt: lastSeenAt.toISOString(),
    ...(device.id === asking?.id && { current: true }),
  }));
}
