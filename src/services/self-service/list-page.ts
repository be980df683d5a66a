/** A device, as customers see it: never with its address or HWID. */
export type ListedDevice = {
  readonly id: string;
  readonly name: string | null;
  readonly platform: string | null;
  /** ISO 8601. */
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  /** True for the device that asks. */
  readonly current?: true;
};

/** How many devices an answer has at most. */
export const maxPerPage = 100;
/**
 * How long their JSON is at most, in bytes. A name may take six bytes for each of its characters, and base64 a third more;
 * the whole answer of version 1 must stay below 65,536.
 */
const maxBytes = 40_000;

export interface ListPage {
  readonly devices: readonly ListedDevice[];
  /** The last device of the page, if there are more; otherwise null. */
  readonly next: string | null;
}

/** The devices that fit into one answer. */
export function pageOf(found: readonly ListedDevice[]): ListPage {
  let bytes = 0;
  const fits = (device: ListedDevice, index: number): boolean => {
    bytes += Buffer.byteLength(JSON.stringify(device)) + 1;
    return index < maxPerPage && bytes <= maxBytes;
  };
  const end = found.findIndex((device, index) => !fits(device, index));
  if (end === -1) return { devices: found, next: null };
  const devices = found.slice(0, end);
  return { devices, next: devices.at(-1)?.id ?? null };
}
