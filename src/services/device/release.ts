import type { Call } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { releaseDevices } from '../license/release-devices.ts';
import { changeDevice, type DeviceReference } from './change.ts';
import type { DeviceView } from './view.ts';

/**
 * Releases a device of a license, which gives its place to another one. Its next validation is refused with
 * DEVICE_RELEASED, unless the license has room and its customers cannot help themselves. The license's leases are revoked;
 * its other devices renew theirs.
 * @throws {ServiceError} UNAUTHENTICATED, LICENSE_NOT_FOUND, DEVICE_NOT_FOUND, INVALID_TRANSITION if it is released already
 */
export async function releaseDevice({ ctx, input }: Call<DeviceReference>): Promise<DeviceView> {
  return changeDevice(ctx, input, async ({ transaction, invalidations, license, device }) => {
    if (device.releasedAt !== null) {
      throw new ServiceError(
        'INVALID_TRANSITION',
        `This device was released already, at ${device.releasedAt.toISOString()}.`,
      );
    }
    const release = { ids: [device.id], by: 'vendor', now: new Date(ctx.env.clock.now()) } as const;
    await releaseDevices(ctx, transaction, invalidations, license, release);
    return {
      event: 'device_released',
      metadata: { by: 'vendor', ...(device.name !== null && { name: device.name }) },
    };
  });
}
