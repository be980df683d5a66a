import type { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { parseInput } from '../parse-input.ts';
import { changeLicense } from './change.ts';
import { renew, renewParams, requireChange } from './transitions.ts';
import type { LicenseView } from './view.ts';

export const renewLicenseInput = renewParams;

/**
 * Gives a license a new expiry, also one that has expired, and an unused one a longer term. If it then ends earlier than
 * before, its leases are revoked.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND; INVALID_TRANSITION if it is banned or
 *   never expires; VALIDATION_FAILED if it would expire too late
 */
export async function renewLicense({
  ctx,
  input: { id, ...given },
}: Call<{ id: string } & z.input<typeof renewLicenseInput>>): Promise<LicenseView> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  const renewal = parseInput(renewLicenseInput, given);
  return changeLicense(ctx, developerId, id, (license, { now }) =>
    requireChange(renew(license, renewal, now)),
  );
}
