import type { z } from 'zod';
import type { Call } from '../context.ts';
import { strictObject, text } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { changeDevice, type DeviceReference } from './change.ts';
import type { DeviceView } from './view.ts';

/** A name of a device; null for none. */
const deviceName = text({ min: 1, max: 64 })
  .refine((value) => value.trim() !== '', { message: 'must not be blank' })
  .nullable();

export const renameDeviceInput = strictObject({ name: deviceName });

/**
 * Gives a device of a license another name, or none.
 * @throws {ServiceError} UNAUTHENTICATED, LICENSE_NOT_FOUND, DEVICE_NOT_FOUND
 */
export async function renameDevice({
  ctx,
  input: { licenseId, deviceId, ...given },
}: Call<DeviceReference & z.input<typeof renameDeviceInput>>): Promise<DeviceView> {
  const { name } = parseInput(renameDeviceInput, given);
  return changeDevice(ctx, { licenseId, deviceId }, async ({ transaction, device }) => {
    await transaction.device.update({ where: { id: device.id }, data: { name }, select: { id: true } });
    return { event: 'device_renamed', metadata: { previousName: device.name, name } };
  });
}
