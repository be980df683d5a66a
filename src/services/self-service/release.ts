import type { Call } from '../context.ts';
import { Refusal, type RefusalOutcome } from '../end-user/client-auth.ts';
import { activeDevices, type LicenseDevice, sameAs } from '../license/license-devices.ts';
import type { LockedLicense } from '../license/lock.ts';
import { releaseDevices } from '../license/release-devices.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { answerSelfService, type Success } from './answer.ts';
import { changeDevices, countMove, requireMove } from './change-devices.ts';
import { type AllowanceMembers, allowanceMembers, allowanceOf } from './moves.ts';
import type { SelfServiceRequest } from './owner.ts';

export interface ReleaseDeviceInput extends SelfServiceRequest {
  readonly deviceId: string;
}

type Released = {
  readonly licenseId: string;
  readonly releasedDeviceId: string;
  /** True if it is the device that asks. */
  readonly current?: true;
} & AllowanceMembers;

export type ReleaseDeviceOutcome = (Success & Released) | RefusalOutcome;

/**
 * Releases a device for a customer. Its leases are revoked, and it counts as a move.
 * @throws {ProtocolError} SESSION_EXPIRED if the application was deleted
 */
export function releaseDevice({ ctx, input }: Call<ReleaseDeviceInput>): Promise<ReleaseDeviceOutcome> {
  return answerSelfService(ctx, 'devices.release', input, (customer, noted) =>
    changeDevices(ctx, customer, noted, async (own): Promise<Released> => {
      const { transaction, invalidations, license, now } = own;
      const { application, deviceId, hwid } = customer.request;
      const device = requireDevice(license, deviceId);
      requireMove(own);
      const release = { ids: [device.id], by: 'customer', now } as const;
      await releaseDevices(ctx, transaction, invalidations, license, release);
      const after = await countMove(own);
      await recordSecurityEvent(ctx, transaction, {
        developerId: application.developerId,
        applicationId: application.id,
        licenseId: license.id,
        userId: 'userId' in customer.owner ? customer.owner.userId : null,
        event: 'device_released',
        hwid: device.hwid,
        metadata: { deviceId: device.id, by: 'customer' },
        eventData: { keyPrefix: license.keyPrefix },
      });
      return {
        licenseId: license.id,
        releasedDeviceId: device.id,
        ...(hwid !== null && sameAs(application.id, { hwid })(device) && { current: true }),
        ...allowanceMembers(allowanceOf(after, now)),
      };
    }),
  );
}

/**
 * An active device of a license. A device of another license is as unknown as one that never existed.
 * @throws {Refusal} DEVICE_UNKNOWN
 */
export function requireDevice(license: LockedLicense, id: string): LicenseDevice {
  const device = activeDevices(license).find((each) => each.id === id);
  if (device === undefined) throw new Refusal('DEVICE_UNKNOWN');
  return device;
}
