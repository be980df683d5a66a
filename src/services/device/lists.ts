import { z } from 'zod';
import { type FromJsonOf, instant } from '../../db/from-json.ts';
import { all, columnsOf, isSet, type ListTable, listSource } from '../list-source.ts';
import { type DeviceRow, deviceSelect } from './view.ts';

export const deviceTable = {
  name: 'devices',
  columns: columnsOf('devices', { ...deviceSelect, licenseId: true }),
  fromJson: {
    firstSeenAt: instant,
    lastSeenAt: instant,
    releasedAt: instant,
  } satisfies FromJsonOf<DeviceRow>,
  developerId: `(SELECT applications.developer_id FROM licenses
    JOIN applications ON applications.id = licenses.application_id WHERE licenses.id = devices.license_id)`,
  applicationId: '(SELECT licenses.application_id FROM licenses WHERE licenses.id = devices.license_id)',
  readScope: 'licenses:read',
} satisfies ListTable;

/** Filter of a device list. */
export const deviceFilter = z.object({ state: z.enum(['active', 'released']).optional() });

export type DeviceFilter = z.output<typeof deviceFilter>;

/** The devices of a license. */
export const devicesOfLicenses = listSource<DeviceFilter>({
  filter: deviceFilter,
  table: deviceTable,
  parentColumn: 'license_id',
  matches: ({ state }) => all([state !== undefined && isSet('devices.released_at', state === 'released')]),
});
