/** A use of a device. */
export interface DeviceUse {
  readonly licenseId: string;
  /** To the minute. */
  readonly at: Date;
  readonly ip: string | null;
  readonly country: string | null;
}

/** What is to be written about licenses and devices besides the log. Only the last of each is kept. */
export interface Uses {
  /** The addresses that licenses were last used from, by the license's id. */
  readonly addresses: ReadonlyMap<string, string>;
  /** The last uses of devices, by the device's id. */
  readonly devices: ReadonlyMap<string, DeviceUse>;
}

/** Uses that are being collected. */
export interface CollectedUses extends Uses {
  readonly addresses: Map<string, string>;
  readonly devices: Map<string, DeviceUse>;
}

export const noUses = (): CollectedUses => ({ addresses: new Map(), devices: new Map() });

export const countUses = ({ addresses, devices }: Uses): number => addresses.size + devices.size;

/** Adds uses that could not be written, except where there is a newer one. */
export function putBack(collected: CollectedUses, unwritten: Uses): void {
  for (const [id, ip] of unwritten.addresses) {
    if (!collected.addresses.has(id)) collected.addresses.set(id, ip);
  }
  for (const [id, use] of unwritten.devices) {
    if (!collected.devices.has(id)) collected.devices.set(id, use);
  }
}
