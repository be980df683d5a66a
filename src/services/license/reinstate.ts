import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { changeLicense } from './change.ts';
import { reinstate, requireChange } from './transitions.ts';
import type { LicenseView } from './view.ts';

/**
 * Ends the suspension of a license. If it kept the remaining term, the expiry moves by exactly as long as it lasted.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND; INVALID_TRANSITION if it is not
 *   suspended, or banned
 */
export async function reinstateLicense({ ctx, input }: Call<{ id: string }>): Promise<LicenseView> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  return changeLicense(ctx, developerId, input.id, (license, { now }) =>
    requireChange(reinstate(license, undefined, now)),
  );
}
