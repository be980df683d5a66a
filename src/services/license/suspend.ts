import type { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { parseInput } from '../parse-input.ts';
import { changeLicense } from './change.ts';
import { requireChange, suspend, suspendParams } from './transitions.ts';
import type { LicenseView } from './view.ts';

export const suspendLicenseInput = suspendParams;

/**
 * Suspends a license until it is reinstated: its verdict is SUSPENDED, and its leases are revoked.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND; INVALID_TRANSITION if it is suspended
 *   or banned
 */
export async function suspendLicense({
  ctx,
  input,
}: Call<{ id: string; suspension: z.input<typeof suspendLicenseInput> }>): Promise<LicenseView> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  const suspension = parseInput(suspendLicenseInput, input.suspension);
  return changeLicense(ctx, developerId, input.id, (license, { now }) =>
    requireChange(suspend(license, suspension, now)),
  );
}
