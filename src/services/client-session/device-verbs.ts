import type { z } from 'zod';
import { listDevicesMembers, moveDeviceMembers, releaseDeviceMembers } from '../../protocol/messages.ts';
import { labelsOf } from '../license/client-facts.ts';
import { type ListDevicesOutcome, listDevices } from '../self-service/list.ts';
import { type MoveDeviceOutcome, moveDevice } from '../self-service/move.ts';
import type { Owner } from '../self-service/owner.ts';
import { type ReleaseDeviceOutcome, releaseDevice } from '../self-service/release.ts';
import type { ClientVerbDefinition } from './answer-sealed.ts';

const list: ClientVerbDefinition<z.output<typeof listDevicesMembers>, ListDevicesOutcome> = {
  name: 'devices.list',
  schema: listDevicesMembers,
  malformed: {},
  answer: (ctx, { hwid = null, after = null, ...body }, client) =>
    listDevices({ ctx, input: { ...client, owner: ownerOf(body), hwid, after } }),
};

const release: ClientVerbDefinition<z.output<typeof releaseDeviceMembers>, ReleaseDeviceOutcome> = {
  name: 'devices.release',
  schema: releaseDeviceMembers,
  malformed: {},
  answer: (ctx, { deviceId, hwid = null, ...body }, client) =>
    releaseDevice({ ctx, input: { ...client, owner: ownerOf(body), deviceId, hwid } }),
};

const move: ClientVerbDefinition<z.output<typeof moveDeviceMembers>, MoveDeviceOutcome> = {
  name: 'devices.move',
  schema: moveDeviceMembers,
  malformed: {},
  answer: (ctx, { releaseDeviceId = null, hwid, ...body }, client) => {
    const labels = labelsOf(body);
    return moveDevice({ ctx, input: { ...client, owner: ownerOf(body), releaseDeviceId, hwid, labels } });
  },
};

interface OwnerMembers {
  readonly licenseKey?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** The schemas admit one kind of owner. */
function ownerOf({ licenseKey, username = '', password = '' }: OwnerMembers): Owner {
  return licenseKey === undefined ? { username, password } : { licenseKey };
}

/** The verbs about the devices of a license, the same in both versions of the protocol. */
export const deviceVerbs = {
  'devices.list': list,
  'devices.release': release,
  'devices.move': move,
} as const;
