import { deviceHash } from '../../protocol/v2/device-hash.ts';

/** The device of a request: client software sends its HWID, and a device request has only the hash of it. */
export type Device = { readonly hwid: string } | { readonly deviceHash: string };

/** The device that a license is bound to. Not both are set. */
export interface DeviceBinding {
  readonly hwid: string | null;
  /** Of a device whose HWID is not known: an offline lease has bound it. */
  readonly deviceHash: string | null;
}

/** Whether a license of an application is bound to another device. */
export function isBoundToOther(applicationId: string, bound: DeviceBinding, device: Device): boolean {
  if (bound.hwid !== null && 'hwid' in device) return bound.hwid !== device.hwid;
  const hash = bound.hwid === null ? bound.deviceHash : deviceHash(applicationId, bound.hwid);
  if (hash === null) return false;
  return hash !== ('hwid' in device ? deviceHash(applicationId, device.hwid) : device.deviceHash);
}
