import { Prisma } from '../../db/client.ts';
import type { RecordingContext } from '../context.ts';
import type { DeviceLabels } from './client-facts.ts';
import type { Device } from './license-devices.ts';

/** How many released devices of a license are kept. Each is a fact of its verdicts, so their number is limited. */
export const maxReleased = 100;

/** A device to bind. The caller has locked the license, and calls `noteDevices` afterwards. */
export interface NewDevice {
  readonly licenseId: string;
  readonly device: Device;
  readonly labels: DeviceLabels;
  readonly now: Date;
}

/** Binds a device. */
export async function insertDevice(
  { client }: Pick<RecordingContext, 'client'>,
  transaction: Prisma.TransactionClient,
  { licenseId, device, labels, now }: NewDevice,
): Promise<string> {
  const [hwid, deviceHash] = 'hwid' in device ? [device.hwid, null] : [null, device.deviceHash];
  // Whoever shows a device request is not the device: its address is not known.
  const { ip, country } = hwid === null ? { ip: null, country: null } : client;
  const [row] = await transaction.$queryRaw<{ id: string }[]>`
    INSERT INTO devices (id, license_id, hwid, device_hash, name, platform, first_seen_at, last_seen_at, last_ip, country)
    VALUES (device_id_at(clock_timestamp()), ${licenseId}::uuid, ${hwid}, ${deviceHash}, ${labels.deviceName},
      ${labels.platform}, ${now}, date_trunc('minute', ${now}::timestamptz), ${ip}, ${country})
    RETURNING id`;
  if (row === undefined) throw new TypeError('An insertion returned nothing');
  return row.id;
}

/** Sets the HWID of a device that was known by its hash. The caller calls `noteDevices` afterwards. */
export async function identifyDevice(
  transaction: Prisma.TransactionClient,
  id: string,
  hwid: string,
): Promise<void> {
  await transaction.$executeRaw`UPDATE devices SET hwid = ${hwid}, device_hash = NULL WHERE id = ${id}::uuid`;
}

/** A release of active devices of a license that the caller has locked. */
export interface Release {
  readonly licenseId: string;
  readonly ids: readonly string[];
  readonly by: 'vendor' | 'customer' | 'idle';
  /** Whether the devices may be bound again like unknown ones. */
  readonly mayReturn?: boolean;
  readonly now: Date;
}

/** Lets released devices of a license be bound again like unknown ones. */
export async function letReturn(
  transaction: Prisma.TransactionClient,
  licenseId: string,
  ids: readonly string[],
): Promise<void> {
  await transaction.$executeRaw`
    UPDATE devices SET may_return = TRUE
    WHERE license_id = ${licenseId}::uuid AND id = ANY(${ids}::uuid[]) AND released_at IS NOT NULL`;
}

/** Releases devices, and forgets the oldest released ones. The caller calls `noteDevices` afterwards. */
export async function releaseRows(
  transaction: Prisma.TransactionClient,
  { licenseId, ids, by, mayReturn = false, now }: Release,
): Promise<void> {
  await transaction.$executeRaw`
    UPDATE devices SET released_at = ${now}, released_by = ${by}::"DeviceReleaser", may_return = ${mayReturn}
    WHERE license_id = ${licenseId}::uuid AND id = ANY(${ids}::uuid[]) AND released_at IS NULL`;
  await transaction.$executeRaw`
    DELETE FROM devices WHERE id IN (
      SELECT id FROM devices WHERE license_id = ${licenseId}::uuid AND released_at IS NOT NULL
      ORDER BY released_at DESC, id DESC OFFSET ${maxReleased}
    )`;
}

/**
 * Brings the license's own columns up to date after its devices have changed: the oldest device, and their number.
 * @param isOutdating whether verdicts from before must not bind a device any more: a device was released or identified
 */
export async function noteDevices(
  transaction: Prisma.TransactionClient,
  licenseId: string,
  isOutdating: boolean,
  now: Date,
): Promise<void> {
  const oldest = Prisma.sql`FROM devices WHERE license_id = licenses.id AND released_at IS NULL ORDER BY id LIMIT 1`;
  await transaction.$executeRaw`
    UPDATE licenses SET
      hwid = (SELECT hwid ${oldest}),
      device_hash = (SELECT device_hash ${oldest}),
      device_count = (SELECT count(*) FROM devices WHERE license_id = licenses.id AND released_at IS NULL),
      device_releases = device_releases + ${isOutdating ? 1 : 0},
      updated_at = ${now}
    WHERE id = ${licenseId}::uuid`;
}
