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
import { lockOwnLicense } from './lock-own.ts';
import { type LicenseView, licenseSelect, licenseView } from './view.ts';

export const banLicenseInput = strictObject({
  scope: z.enum(['license', 'hwid', 'hwid_and_ip']).default('license'),
  /** With `hwid_and_ip`: the IP address to ban instead of the license's last one. */
  ip: ipAddress.optional(),
});

type BanLicenseInput = z.output<typeof banLicenseInput>;

/**
 * Bans a license and, depending on the scope, its device and IP address; all or nothing. Leases of the license are
 * revoked, and of a banned device all its leases.
 * @throws {ServiceError} UNAUTHENTICATED, LICENSE_NOT_FOUND; HWID_NOT_SET or IP_NOT_KNOWN if the license lacks what the
 *   scope requires; LIMIT_REACHED if the application would have too many bans
 */
export async function banLicense({
  ctx,
  input,
}: Call<{ id: string; ban: z.input<typeof banLicenseInput> }>): Promise<LicenseView> {
  const developerId = requireDeveloper(ctx.actor);
  const ban = parseInput(banLicenseInput, input.ban);
  const { scope } = ban;
  // The last IP address must include validations up to now, which are buffered.
  if (scope === 'hwid_and_ip') await ctx.env.securityLog.flush();
  const row = await developerTransaction(ctx, developerId, async (transaction, invalidations) => {
    const license = await lockOwnLicense(
      transaction,
      invalidations,
      developerId,
      input.id,
      scope === 'license' ? 'shared' : 'counting',
    );
    const bans = bansOf(ban, license);
    if (bans.length > 0) invalidations.bans(license.applicationId);
    if ((await insertBans(transaction, license, bans, new Date(ctx.env.clock.now()))) > 0) {
      await requireRoom(ctx, transaction, 'bans', { ownerId: license.applicationId, more: 0 });
    }
    const bannedHwid = bans.find(({ banType }) => banType === 'hwid')?.value;
    await revokeLeases(ctx, transaction, invalidations, license.applicationId, {
      licenseId: license.id,
      ...(bannedHwid !== undefined && { hwid: bannedHwid }),
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
      metadata: { scope, ...Object.fromEntries(bans.map(({ banType, value }) => [banType, value])) },
    });
    return updated;
  });
  return licenseView(row, new Date(ctx.env.clock.now()));
}

interface NewBan {
  readonly banType: BanType;
  readonly value: string;
}

function bansOf(
  { scope, ip }: BanLicenseInput,
  license: { readonly hwid: string | null; readonly lastIp: string | null },
): NewBan[] {
  if (scope === 'license') return [];
  const hwidBan = license.hwid === null ? [] : [{ banType: 'hwid' as const, value: license.hwid }];
  if (scope === 'hwid') {
    if (hwidBan.length === 0) throw hwidNotSet();
    return hwidBan;
  }
  const address = ip ?? license.lastIp;
  if (address === null) {
    throw new ServiceError(
      'IP_NOT_KNOWN',
      'This license has not been used from any IP address yet: send one as ip.',
    );
  }
  return [...hwidBan, { banType: 'ip', value: address }];
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
