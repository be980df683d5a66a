import { deviceHash as hashOf } from '../../protocol/v2/device-hash.ts';

/** The device of a request: client software sends its HWID, and a device request has only the hash of it. */
export type Device = { readonly hwid: string } | { readonly deviceHash: string };

/** A device that a license is bound to, or was until it was released. */
export interface LicenseDevice {
  readonly id: string;
  /** Null while only its hash is known, because an offline lease has bound it. */
  readonly hwid: string | null;
  readonly deviceHash: string | null;
  readonly lastSeenAt: Date;
  /** Null while it is active. */
  readonly releasedAt: Date | null;
}

/** The facts about a license that decide whether a device may use it. */
export interface DeviceFacts {
  readonly applicationId: string;
  readonly deviceLimit: number;
  readonly selfService: 'off' | 'key' | 'account';
  readonly releaseIdleAfterSeconds: number | null;
  /** The active devices, and the released ones that may not return like unknown ones; oldest first. */
  readonly devices: readonly LicenseDevice[];
}

/** Where a device stands with a license. */
export type DevicePlace =
  | { readonly kind: 'bound'; readonly device: LicenseDevice }
  /** Bound by its hash; the request tells its HWID. */
  | { readonly kind: 'identified'; readonly device: LicenseDevice }
  | { readonly kind: 'released'; readonly at: Date }
  /** It gets a place. `instead`: idle devices that lose theirs, the longest idle first. */
  | { readonly kind: 'new'; readonly instead: readonly LicenseDevice[] }
  | { readonly kind: 'full' };

/** Finds the place of a device. */
export function placeOf(license: DeviceFacts, device: Device, now: Date): DevicePlace {
  const isIt = sameAs(license.applicationId, device);
  const active = license.devices.find((each) => each.releasedAt === null && isIt(each));
  if (active !== undefined) {
    const isIdentified = 'hwid' in device && active.hwid === null;
    return { kind: isIdentified ? 'identified' : 'bound', device: active };
  }
  const room = roomFor(license, now);
  const released = license.devices.findLast(isIt);
  if (released?.releasedAt && (room === null || license.selfService !== 'off')) {
    return { kind: 'released', at: released.releasedAt };
  }
  return room === null ? { kind: 'full' } : { kind: 'new', instead: room };
}

/**
 * Whether another device may be bound, and the idle devices that are released for it.
 * @returns null if there is no room
 */
export function roomFor(
  { devices, deviceLimit, releaseIdleAfterSeconds }: DeviceFacts,
  now: Date,
): readonly LicenseDevice[] | null {
  const active = activeDevices({ devices });
  const excess = active.length - deviceLimit + 1;
  if (excess <= 0) return [];
  if (releaseIdleAfterSeconds === null) return null;
  // A device may have been used up to a minute after the noted time.
  const idleSince = now.getTime() - releaseIdleAfterSeconds * 1000 - 60_000;
  const idle = active
    .filter(({ lastSeenAt }) => lastSeenAt.getTime() <= idleSince)
    .sort((one, other) => one.lastSeenAt.getTime() - other.lastSeenAt.getTime());
  return idle.length < excess ? null : idle.slice(0, excess);
}

/** The devices that a license is bound to, oldest first. */
export const activeDevices = ({ devices }: Pick<DeviceFacts, 'devices'>): readonly LicenseDevice[] =>
  devices.filter(({ releasedAt }) => releasedAt === null);

/**
 * The ids of released devices that are the same machines as some of these: they were released before, and came back as new
 * ones. Their HWIDs may be known in one case and only their hashes in the other.
 */
export function earlierReleasesOf(
  { applicationId, devices }: Pick<DeviceFacts, 'applicationId' | 'devices'>,
  ids: readonly string[],
): readonly string[] {
  const hashed = devices.map(({ id, hwid, deviceHash, releasedAt }) => ({
    id,
    isReleased: releasedAt !== null,
    hash: hwid === null ? deviceHash : hashOf(applicationId, hwid),
  }));
  const given = new Set(ids);
  const hashes = new Set(hashed.flatMap(({ id, hash }) => (given.has(id) ? [hash] : [])));
  return hashed.flatMap(({ id, isReleased, hash }) => (isReleased && hashes.has(hash) ? [id] : []));
}

/** Compares HWIDs if both are known, and hashes otherwise. */
export function sameAs(applicationId: string, device: Device): (known: LicenseDevice) => boolean {
  if (!('hwid' in device)) {
    return ({ hwid, deviceHash }) =>
      device.deviceHash === (hwid === null ? deviceHash : hashOf(applicationId, hwid));
  }
  let hash: string | undefined;
  return ({ hwid, deviceHash }) => {
    if (hwid !== null) return hwid === device.hwid;
    hash ??= hashOf(applicationId, device.hwid);
    return hash === deviceHash;
  };
}
