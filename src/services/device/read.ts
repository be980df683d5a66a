import type { ServiceContext } from '../context.ts';
import { readChildren } from '../read-children.ts';
import { devicesOfLicenses } from './lists.ts';
import { type DeviceRow, type DeviceView, deviceView } from './view.ts';

/** More devices than most licenses have, but few enough to hold those of a page of licenses in memory. */
const atFirst = 10;

/** Reads the devices of several licenses for an export, newest first. */
export const readDevices = (ctx: ServiceContext, licenseIds: readonly string[]) =>
  readChildren<DeviceRow, DeviceView>(ctx, devicesOfLicenses, licenseIds, { view: deviceView, atFirst });
