import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { changeLicense } from './change.ts';
import type { OwnLicense } from './lock-own.ts';
import type { LicenseView } from './view.ts';

/**
 * Clears a license's device binding; the next validation or login binds a device again. Status, expiry and bans are
 * unchanged.
 * @throws {ServiceError} UNAUTHENTICATED, LICENSE_NOT_FOUND, LICENSE_BANNED, HWID_NOT_SET
 */
export async function resetLicenseHwid({ ctx, input }: Call<{ id: string }>): Promise<LicenseView> {
  const developerId = requireDeveloper(ctx.actor);
  return changeLicense(ctx, developerId, input.id, (license) => {
    refuseBanned(license);
    const previousHwid = license.hwid ?? license.deviceHash;
    if (previousHwid === null)
      throw new ServiceError('HWID_NOT_SET', 'This license is not bound to a device.');
    return {
      data: { hwid: null, deviceHash: null },
      event: 'hwid_reset',
      metadata: { previousHwid },
      revokesLeases: true,
    };
  });
}

/** @throws {ServiceError} LICENSE_BANNED */
export function refuseBanned(license: Pick<OwnLicense, 'status'>): void {
  if (license.status !== 'banned') return;
  throw new ServiceError('LICENSE_BANNED', 'This license is banned; its device binding cannot be cleared.');
}
