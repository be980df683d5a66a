import { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { strictObject } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { type Changing, changeLicense } from './change.ts';
import type { LockedLicense } from './lock.ts';
import { requireChange, unban } from './transitions.ts';
import type { LicenseView } from './view.ts';

export const unbanLicenseInput = strictObject({
  /** Whether the bans of devices and addresses that banning this license made are lifted, too. */
  removeBans: z.boolean().default(false),
});

/**
 * Lifts the ban of a license: it is unused or active again, or suspended if it was.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND; INVALID_TRANSITION if it is not banned
 */
export async function unbanLicense({
  ctx,
  input,
}: Call<{ id: string; unban: z.input<typeof unbanLicenseInput> }>): Promise<LicenseView> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  const { removeBans } = parseInput(unbanLicenseInput, input.unban);
  return changeLicense(ctx, developerId, input.id, async (license, changing) => {
    const change = requireChange(unban(license, undefined, changing.now));
    const removedBans = removeBans ? await liftBansOf(license, changing) : 0;
    return { ...change, metadata: { removedBans } };
  });
}

/**
 * Lifts the bans that banning this locked license has made. A device or address that was banned already belongs to the
 * license, or to the hand, that banned it first, and stays banned.
 * @returns number of lifted bans
 */
export async function liftBansOf(
  license: Pick<LockedLicense, 'id' | 'applicationId'>,
  { transaction, invalidations }: Pick<Changing, 'transaction' | 'invalidations'>,
): Promise<number> {
  const { count } = await transaction.ban.deleteMany({ where: { sourceLicenseId: license.id } });
  if (count > 0) invalidations.bans(license.applicationId);
  return count;
}
