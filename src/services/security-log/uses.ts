import { collectCounts, type ValidationCounts } from './validation-counts.ts';

/** A use of a device. */
export interface DeviceUse {
  readonly licenseId: string;
  /** To the minute. */
  readonly at: Date;
  readonly ip: string | null;
  readonly country: string | null;
}

/** The last uses of licenses and devices. */
export interface LastUses {
  /** The addresses that licenses were last used from, by the license's id. */
  readonly addresses: ReadonlyMap<string, string>;
  /** The last uses of devices, by the device's id. */
  readonly devices: ReadonlyMap<string, DeviceUse>;
}

/** What is to be written about licenses, devices and applications besides the log. */
export interface Uses extends LastUses {
  /** Validations to count. */
  readonly counts: readonly ValidationCounts[];
}

export const noUses: Uses = { addresses: new Map(), devices: new Map(), counts: [] };

/** The same uses after a write that ended without an answer. */
export const ambiguous = (uses: Uses): Uses => ({
  ...uses,
  counts: uses.counts.map((each) => ({ ...each, mayBeAdded: true })),
});

export const countLastUses = ({ addresses, devices }: LastUses): number => addresses.size + devices.size;

export const countUses = (uses: Uses): number => countLastUses(uses) + uses.counts.length;

/** Uses that are being collected. Of addresses and devices, only the last use of each is kept. */
export interface CollectedUses {
  seen(licenseId: string, ip: string): void;
  deviceSeen(deviceId: string, use: DeviceUse): void;
  /** Counts a validation in the minute of an id. */
  validated(
    entry: { readonly developerId: string; readonly applicationId: string },
    code: string,
    id: string,
  ): void;
  readonly size: number;
  /**
   * Takes what was collected.
   * @param locked applications whose counts stay
   */
  take(locked: ReadonlySet<string>): Uses;
  /** Adds uses that could not be written, except where there is a newer one. */
  putBack(unwritten: Uses): void;
}

/** @param max addresses, devices and counts beyond this number are not collected */
export function collectUses(max: number): CollectedUses {
  let addresses = new Map<string, string>();
  let devices = new Map<string, DeviceUse>();
  const counts = collectCounts(max);
  const putInto = <Value>(map: Map<string, Value>, key: string, value: Value): void => {
    if (map.size < max || map.has(key)) map.set(key, value);
  };
  return {
    seen: (licenseId, ip) => putInto(addresses, licenseId, ip),
    deviceSeen: (deviceId, use) => putInto(devices, deviceId, use),
    validated: counts.add,
    get size() {
      return addresses.size + devices.size + counts.size;
    },
    take(locked) {
      const taken = { addresses, devices, counts: counts.take(locked) };
      addresses = new Map();
      devices = new Map();
      return taken;
    },
    putBack(unwritten) {
      for (const [id, ip] of unwritten.addresses) if (!addresses.has(id)) putInto(addresses, id, ip);
      for (const [id, use] of unwritten.devices) if (!devices.has(id)) putInto(devices, id, use);
      counts.putBack(unwritten.counts);
    },
  };
}
