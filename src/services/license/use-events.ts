import type { EventData, NewEvent } from '../outbox/event.ts';
import type { DeviceLabels } from './client-facts.ts';
import type { Device } from './license-devices.ts';

/** The license that a client uses. */
interface Used {
  readonly id: string;
  readonly applicationId: string;
  readonly developerId: string;
}

/** The event of a first use. */
export const activatedEvent = (
  { id, applicationId, developerId }: Used,
  { expiresAt }: { readonly expiresAt: Date | null },
  more: EventData = {},
): NewEvent => ({
  developerId,
  applicationId,
  type: 'license.activated',
  subjectId: id,
  data: { status: 'active', expiresAt: expiresAt?.toISOString() ?? null, ...more },
});

/** The event of a binding. @param deviceId null if it is not known yet */
export const boundEvent = (
  { id, applicationId, developerId }: Used,
  device: Device,
  { deviceName, platform }: DeviceLabels,
  deviceId: string | null = null,
  more: EventData = {},
): NewEvent => ({
  developerId,
  applicationId,
  type: 'device.bound',
  subjectId: deviceId,
  data: { licenseId: id, ...device, name: deviceName, platform, ...more },
});
