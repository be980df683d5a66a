import type { JsonObject } from '../protocol/canonical-json.ts';
import type { DevicesListedMembers } from '../protocol/messages.ts';
import type { Call, CallResults } from './call.ts';
import type { Failure } from './failure.ts';
import type { LeaseKeeper } from './leases/lease-keeper.ts';
import { type InvalidVerdict, refusedBy } from './verdict.ts';

/** Whose devices: the license of a key, or the license of a user. The vendor decides for each license which is enough. */
export type DeviceOwner =
  | { readonly licenseKey: string; readonly username?: undefined; readonly password?: undefined }
  | { readonly username: string; readonly password: string; readonly licenseKey?: undefined };

interface Asking {
  /** Identifier of this device, 1 to 256 characters. */
  readonly hwid?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type ListDevicesOptions = DeviceOwner &
  Asking & {
    /** The `next` of the last list, for the devices that follow. */
    readonly after?: string | undefined;
  };

export type ReleaseDeviceOptions = DeviceOwner &
  Asking & {
    /** The id of a device in the list. */
    readonly deviceId: string;
  };

export type MoveDeviceOptions = DeviceOwner &
  Asking & {
    /** The device to bind, mostly this one. */
    readonly hwid: string;
    /** The id of the device whose place it gets. If omitted, the device is bound if there is room. */
    readonly releaseDeviceId?: string | undefined;
    /** Name and platform of the device to bind. By default, those of the client. */
    readonly deviceName?: string | undefined;
    readonly platform?: string | undefined;
  };

/** A device that the license is bound to. */
export interface Device {
  readonly id: string;
  /** Null if the program that bound it told none. */
  readonly name: string | null;
  readonly platform: string | null;
  readonly firstSeenAt: Date;
  /** To the minute. */
  readonly lastSeenAt: Date;
  /** Whether it is the one with the `hwid` of the call. */
  readonly current: boolean;
}

/** A signed success of a call about devices. */
interface Granted {
  readonly kind: 'verdict';
  readonly valid: true;
  readonly code: 'OK';
  readonly message: string;
  readonly source: 'service';
  readonly licenseId: string;
  /** When the next move is possible; null: now. */
  readonly nextMoveAt: Date | null;
  /** How many moves are left; null: any number. With 0 and no `nextMoveAt` there are none, ever. */
  readonly movesLeft: number | null;
}

export interface DeviceList extends Granted {
  /** Oldest first, at most 100. */
  readonly devices: readonly Device[];
  readonly deviceLimit: number;
  /** The `after` for the devices that follow; null if there are no more. */
  readonly next: string | null;
}

export interface DeviceReleased extends Granted {
  readonly releasedDeviceId: string;
}

export interface DeviceMoved extends Granted {
  /** The device that is bound now. */
  readonly deviceId: string;
  /** The device that was released; null if none was. */
  readonly releasedDeviceId: string | null;
}

/** What customers do with the devices of their license, as far as the vendor allows it. No function rejects. */
export interface Devices {
  /** Lists the devices that the license is bound to. */
  list(options: ListDevicesOptions): Promise<DeviceList | InvalidVerdict | Failure>;
  /**
   * Releases a device. With the `hwid` of this device, the client keeps this device's lease if another was released.
   * After a failure it may still have been released: list the devices to find out.
   */
  release(options: ReleaseDeviceOptions): Promise<DeviceReleased | InvalidVerdict | Failure>;
  /**
   * Binds a device in the place of another, or in a free place. After a failure it may still have been bound: list the
   * devices to find out.
   */
  move(options: MoveDeviceOptions): Promise<DeviceMoved | InvalidVerdict | Failure>;
}

export function createDevices(call: Call, keeper: Pick<LeaseKeeper, 'release'>): Devices {
  return {
    async list(options) {
      const { signal, ...members } = options ?? {};
      const answer = await call({ call: 'devices.list', members: sent(members), signal });
      if (answer.kind === 'failure') return answer;
      const { inner } = answer;
      if (!inner.success) return refusedBy(inner);
      const { devices, deviceLimit, next = null } = inner;
      return { ...granted(inner), devices: devices.map(deviceOf), deviceLimit, next };
    },
    async release(options) {
      const { signal, ...members }: Partial<ReleaseDeviceOptions> = options ?? {};
      const answer = await call({ call: 'devices.release', members: sent(members), signal });
      if (answer.kind === 'failure') return answer;
      const { inner } = answer;
      if (!inner.success) return refusedBy(inner);
      const { licenseId, releasedDeviceId, current = false } = inner;
      await keeper.release({ licenseId, hwid: current ? null : textOf(members.hwid) });
      return { ...granted(inner), releasedDeviceId };
    },
    async move(options) {
      const { signal, ...members }: Partial<MoveDeviceOptions> = options ?? {};
      const answer = await call({ call: 'devices.move', members: sent(members), signal });
      if (answer.kind === 'failure') return answer;
      const { inner } = answer;
      if (!inner.success) return refusedBy(inner);
      const { licenseId, deviceId, releasedDeviceId = null } = inner;
      if (releasedDeviceId !== null) await keeper.release({ licenseId, hwid: textOf(members.hwid) });
      return { ...granted(inner), deviceId, releasedDeviceId };
    },
  };
}

/** Undefined members are omitted from a request. */
function sent(members: Readonly<Record<string, string | undefined>>): JsonObject {
  const all: Record<string, string> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) all[name] = value;
  return all;
}

/** JavaScript callers can pass anything. */
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

type Success = Extract<CallResults[`devices.${'list' | 'release' | 'move'}`], { success: true }>;

const granted = ({ code, message, licenseId, nextMoveAt, movesLeft }: Success): Granted => ({
  kind: 'verdict',
  valid: true,
  code,
  message,
  source: 'service',
  licenseId,
  nextMoveAt: nextMoveAt === null ? null : new Date(nextMoveAt),
  movesLeft,
});

const deviceOf = (device: DevicesListedMembers['devices'][number]): Device => ({
  id: device.id,
  name: device.name,
  platform: device.platform,
  firstSeenAt: new Date(device.firstSeenAt),
  lastSeenAt: new Date(device.lastSeenAt),
  current: device.current ?? false,
});
