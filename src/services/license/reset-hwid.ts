import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { changeLicense } from './change.ts';
import { activeDevices } from './license-devices.ts';
import type { LockedLicense } from './lock.ts';
import type { LicenseView } from './view.ts';

/**
 * Releases all devices of a license; the next validation or login binds a device again, also one of these. Status, expiry
 * and bans are unchanged.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND, LICENSE_BANNED, HWID_NOT_SET
 */
export async function resetLicenseHwid({ ctx, input }: Call<{ id: string }>): Promise<LicenseView> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  return changeLicense(ctx, developerId, input.id, (license) => {
    refuseBanned(license);
    const previousHwid = license.hwid ?? license.deviceHash;
    if (previousHwid === null)
      throw new ServiceError('HWID_NOT_SET', 'This license is not bound to a device.');
    return {
      data: {},
      releases: { ids: activeDevices(license).map(({ id }) => id), by: 'vendor', mayReturn: true },
      event: 'hwid_reset',
      metadata: { previousHwid },
    };
  });
}

/** @throws {ServiceError} LICENSE_BANNED */
export function refuseBanned(license: Pick<LockedLicense, 'status'>): void {
  if (license.status !== 'banned') return;
  throw new ServiceError('LICENSE_BANNED', 'This license is banned; its device binding cannot be cleared.');
}
