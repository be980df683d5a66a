import { devicesOfLicenses, deviceTable } from '../../services/device/lists.ts';
import { releaseDevice } from '../../services/device/release.ts';
import { renameDevice } from '../../services/device/rename.ts';
import { type DeviceRow, deviceSelect, deviceState } from '../../services/device/view.ts';
import { deviceNotFound } from '../../services/errors.ts';
import { builder } from '../builder.ts';
import { connectionType } from '../connection.ts';
import { withInput } from '../input.ts';
import { listField } from '../list.ts';
import { reads } from '../selected-columns.ts';
import { toChanged } from '../to-one.ts';
import { findLicense, License } from './license.ts';
import { Node } from './node.ts';

const DeviceStateEnum = builder.enumType('DeviceState', {
  description: 'Whether a device is bound to its license.',
  values: {
    active: { description: 'It is bound.' },
    released: { description: 'It was, until it was released.' },
  } as const,
});

const DeviceReleaser = builder.enumType('DeviceReleaser', {
  description: 'Who released a device.',
  values: {
    vendor: { description: 'You.' },
    customer: { description: 'A customer.' },
    idle: { description: 'The service, because the device was not used and another one needed its place.' },
  } as const,
});

export const Device = builder.prismaObject('Device', {
  description: 'A device that a license is bound to, or was until it was released.',
  interfaces: [Node],
  select: { ...deviceSelect, licenseId: true },
});

builder.objectFields(Device, (t) => ({
  hwid: t.exposeString('hwid', {
    nullable: true,
    description:
      'The HWID; null while only its hash is known, because an offline lease has bound the device.',
  }),
  name: t.exposeString('name', {
    nullable: true,
    description: 'From the program, its user, or you; null if not set.',
  }),
  platform: t.exposeString('platform', {
    nullable: true,
    description: 'As the program names it; null if it does not.',
  }),
  firstSeenAt: t.expose('firstSeenAt', { type: 'DateTime', description: 'When it was bound.' }),
  lastSeenAt: t.expose('lastSeenAt', {
    type: 'DateTime',
    description: 'When it was last accepted, to the minute.',
  }),
  lastIp: t.exposeString('lastIp', {
    nullable: true,
    description: 'The IP address that it was last used from; null if not known.',
  }),
  country: t.exposeString('country', {
    nullable: true,
    description: 'The country of that address (ISO 3166-1 alpha-2); null if unknown.',
  }),
  state: t.field({
    ...reads('releasedAt'),
    type: DeviceStateEnum,
    description: 'Whether it is bound.',
    resolve: deviceState,
  }),
  releasedAt: t.expose('releasedAt', {
    type: 'DateTime',
    nullable: true,
    description: 'When it was released; null while it is active.',
  }),
  releasedBy: t.expose('releasedBy', {
    type: DeviceReleaser,
    nullable: true,
    description: 'Who released it; null while it is active.',
  }),
  license: t.field({
    ...reads('licenseId'),
    type: License,
    nullable: true,
    description: 'Its license; null if it was deleted during the request.',
    resolve: ({ licenseId }, _args, context, info) => findLicense(licenseId, context, info),
  }),
}));

/** The device that a mutation changed. */
const changedDevice = toChanged<DeviceRow>(deviceTable, deviceNotFound);

const DeviceConnection = connectionType('DeviceConnection', Device, 'devices');

const DeviceFilterInput = builder.inputType('DeviceFilter', {
  description: 'Filters devices.',
  fields: (t) => ({ state: t.field({ type: DeviceStateEnum, description: 'Devices in this state.' }) }),
});

builder.objectField(License, 'devices', (t) =>
  t.field({
    type: DeviceConnection,
    description: 'The devices that are bound, and the newest 100 that were released; newest first.',
    args: {
      ...t.arg.connectionArgs(),
      filter: t.arg({ type: DeviceFilterInput, description: 'Filters the list.' }),
    },
    ...listField<DeviceRow>(devicesOfLicenses),
  }),
);

const devicePayload = (name: string) =>
  builder.objectRef<{ deviceId: string }>(name).implement({
    description: 'The device after the change.',
    fields: (t) => ({
      device: t.field({
        type: Device,
        description: 'The device.',
        resolve: ({ deviceId }, _args, context, info) => changedDevice(deviceId, context, info),
      }),
    }),
  });

const RenameDeviceInput = builder.inputType('RenameDeviceInput', {
  description: 'A device and its new name.',
  fields: (t) => ({
    licenseId: t.id({ required: true, description: 'The id of the license.' }),
    deviceId: t.id({ required: true, description: 'The id of the device.' }),
    name: t.string({ description: 'At most 64 characters; null removes the name.' }),
  }),
});

const ReleaseDeviceInput = builder.inputType('ReleaseDeviceInput', {
  description: 'The device to release.',
  fields: (t) => ({
    licenseId: t.id({ required: true, description: 'The id of the license.' }),
    deviceId: t.id({ required: true, description: 'The id of the device.' }),
  }),
});

builder.mutationFields((t) => ({
  renameDevice: t.field({
    type: devicePayload('RenameDevicePayload'),
    ...withInput(RenameDeviceInput, 'The device and its name.'),
    description: 'Gives a device another name. Errors: LICENSE_NOT_FOUND, DEVICE_NOT_FOUND.',
    resolve: async (_parent, { input: { name = null, ...device } }, { service }) => {
      await renameDevice({ ctx: service, input: { ...device, name } });
      return device;
    },
  }),
  releaseDevice: t.field({
    type: devicePayload('ReleaseDevicePayload'),
    ...withInput(ReleaseDeviceInput, 'The device.'),
    description:
      'Releases a device, so that another one can take its place. Its next validation is refused with DEVICE_RELEASED; if selfService is off and the license has room, it is bound again instead, as a new device. Errors: LICENSE_NOT_FOUND, DEVICE_NOT_FOUND, INVALID_TRANSITION.',
    resolve: async (_parent, { input }, { service }) => {
      await releaseDevice({ ctx: service, input });
      return input;
    },
  }),
}));
