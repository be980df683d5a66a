import { z } from 'zod';
import type { Prisma } from '../../db/client.ts';
import { newId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { BanType } from '../ban/is-banned.ts';
import type { Call } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { ipAddress, strictObject } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { requireRoom } from '../require-room.ts';
import { revokeLeases } from '../revocation/revoke-leases.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { licenseEventData } from './event-data.ts';
import { activeDevices, type LicenseDevice } from './license-devices.ts';
import { lockOwnLicense } from './lock-own.ts';
import { type LicenseView, licenseSelect, licenseView } from './view.ts';

export const banLicenseInput = strictObject({
  scope: z.enum(['license', 'hwid', 'hwid_and_ip']).default('license'),
  /** With `hwid_and_ip`: the IP address to ban instead of the license's last one. */
  ip: ipAddress.optional(),
});

type BanLicenseInput = z.output<typeof banLicenseInput>;

/**
 * Bans a license and, depending on the scope, its devices and IP address; all or nothing. Devices of which only the hash is
 * known are not banned. Leases of the license are revoked, and of a banned device all its leases.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND; HWID_NOT_SET or IP_NOT_KNOWN if the
 *   license lacks what the scope requires; LIMIT_REACHED if the application would have too many bans
 */
export async function banLicense({
  ctx,
  input,
}: Call<{ id: string; ban: z.input<typeof banLicenseInput> }>): Promise<LicenseView> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  const ban = parseInput(banLicenseInput, input.ban);
  const { scope } = ban;
  // The last IP address must include validations up to now, which are buffered.
  if (scope === 'hwid_and_ip') await ctx.env.securityLog.flush();
  return developerTransaction(ctx, developerId, async (transaction, invalidations) => {
    const now = new Date(ctx.env.clock.now());
    const license = await lockOwnLicense(
      ctx,
      transaction,
      invalidations,
      input.id,
      scope === 'license' ? 'shared' : 'counting',
    );
    const bans = bansOf(ban, license);
    if (bans.length > 0) invalidations.bans(license.applicationId);
    if ((await insertBans(transaction, license, bans, now)) > 0) {
      await requireRoom(ctx, transaction, 'bans', { ownerId: license.applicationId, more: 0 });
    }
    await revokeLeases(ctx, transaction, invalidations, license.applicationId, {
      licenseId: license.id,
      hwids: bans.filter(({ banType }) => banType === 'hwid').map(({ value }) => value),
    });
    const updated = await transaction.license.update({
      where: { id: license.id },
      data: { status: 'banned' },
      select: licenseSelect,
    });
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: license.applicationId,
      licenseId: license.id,
      event: 'license_banned',
      hwid: license.hwid,
      metadata: { scope, ...metadataOf(bans) },
      eventData: licenseEventData(updated, now),
    });
    return licenseView(updated, now);
  });
}

interface NewBan {
  readonly banType: BanType;
  readonly value: string;
}

function bansOf(
  { scope, ip }: BanLicenseInput,
  license: { readonly devices: readonly LicenseDevice[]; readonly lastIp: string | null },
): NewBan[] {
  if (scope === 'license') return [];
  const hwidBans = activeDevices(license).flatMap(({ hwid }) =>
    hwid === null ? [] : [{ banType: 'hwid' as const, value: hwid }],
  );
  if (scope === 'hwid') {
    if (hwidBans.length === 0) throw hwidNotSet();
    return hwidBans;
  }
  const address = ip ?? license.lastIp;
  if (address === null) {
    throw new ServiceError(
      'IP_NOT_KNOWN',
      'This license has not been used from any IP address yet: send one as ip.',
    );
  }
  return [...hwidBans, { banType: 'ip', value: address }];
}

/** For one device, its HWID. Of several, the oldest, and how many there are: the list of bans has them all. */
function metadataOf(bans: readonly NewBan[]): Record<string, string | number> {
  const [hwid, ...others] = bans.filter(({ banType }) => banType === 'hwid');
  const ip = bans.find(({ banType }) => banType === 'ip');
  return {
    ...(hwid && { hwid: hwid.value }),
    ...(others.length > 0 && { devices: others.length + 1 }),
    ...(ip && { ip: ip.value }),
  };
}

const hwidNotSet = () => new ServiceError('HWID_NOT_SET', 'This license is not bound to a device.');

/**
 * Inserts bans. A device or address that is already banned keeps its row with the license that first caused it.
 * @returns number of new bans
 */
async function insertBans(
  transaction: Prisma.TransactionClient,
  license: { readonly id: string; readonly applicationId: string },
  bans: readonly NewBan[],
  now: Date,
): Promise<number> {
  const { count } = await transaction.ban.createMany({
    data: bans.map((ban) => ({
      ...ban,
      id: newId(),
      applicationId: license.applicationId,
      sourceLicenseId: license.id,
      createdAt: now,
    })),
    skipDuplicates: true,
  });
  return count;
}
