import type { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { strictObject, subscriptionTier } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { changeLicense } from './change.ts';
import type { LicenseView } from './view.ts';

export const setTierInput = strictObject({ subscriptionTier });

/**
 * Sets a license's tier.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND
 */
export async function setTier({
  ctx,
  input: { id, ...given },
}: Call<{ id: string } & z.input<typeof setTierInput>>): Promise<LicenseView> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  const { subscriptionTier } = parseInput(setTierInput, given);
  return changeLicense(ctx, developerId, id, (license) => ({
    data: { subscriptionTier },
    event: 'license_tier_changed',
    metadata: { from: license.subscriptionTier, to: subscriptionTier },
  }));
}
