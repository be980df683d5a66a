import type { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { strictObject, subscriptionTier } from '../fields.ts';
import { changeLicense } from './change.ts';
import type { LicenseView } from './view.ts';

export const setTierInput = strictObject({ subscriptionTier });

/**
 * Sets a license's tier.
 * @throws {ServiceError} UNAUTHENTICATED, LICENSE_NOT_FOUND
 */
export async function setTier({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: { id: string } & z.output<typeof setTierInput>;
}): Promise<LicenseView> {
  const developerId = requireDeveloper(ctx.actor);
  return changeLicense(ctx, developerId, input.id, (license) => ({
    data: { subscriptionTier: input.subscriptionTier },
    event: 'license_tier_changed',
    metadata: { from: license.subscriptionTier, to: input.subscriptionTier },
  }));
}
