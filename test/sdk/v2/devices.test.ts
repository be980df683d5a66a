import { describe, expect } from 'vitest';
import { createClient } from '../../../src/sdk/index.ts';
import { test } from './fixture.ts';
import { createDevice, disconnect, hwid, issueLeases, licenseKey } from './lease-device.ts';
import { appId, licenseId, type StandIn } from './stand-in.ts';

const owner = { licenseKey };
const deviceId = '01890a5d-e4f5-7c6d-a071-8293a4b5c6d7';
const otherId = '01890a5d-f506-7d7e-b182-93a4b5c6d7e8';
const verdict = { kind: 'verdict', valid: true, code: 'OK', source: 'service', licenseId };
const at = '2026-03-01T00:00:00.000Z';

describe('the devices of a license', () => {
  test('are listed with their times as dates', async ({ server }) => {
    const { devices } = createClient(server.options);
    expect(await devices.list({ ...owner, hwid, after: otherId })).toEqual({
      ...verdict,
      message: 'License is valid.',
      devices: [
        {
          id: deviceId,
          name: 'Laptop',
          platform: null,
          firstSeenAt: new Date('2026-01-01T00:00:00.000Z'),
          lastSeenAt: new Date('2026-02-01T00:00:00.000Z'),
          current: true,
        },
      ],
      deviceLimit: 3,
      next: null,
      nextMoveAt: null,
      movesLeft: null,
    });
    const asked = { call: 'devices.list', licenseKey, hwid, after: otherId };
    expect(server.calls[0]?.request).toMatchObject({ app: appId, ...asked });
  });

  test('are released and moved, also with an account', async ({ server }) => {
    const { devices } = createClient({ ...server.options, deviceName: 'Laptop', platform: 'Linux' });
    const account = { username: 'ada', password: 'correct horse' };
    server.onCall = ({ sealed, answer }) => sealed({ ...answer, nextMoveAt: at, movesLeft: 2 });
    const left = { nextMoveAt: new Date(at), movesLeft: 2 };
    expect(await devices.release({ ...account, deviceId })).toMatchObject({ ...verdict, ...left });
    expect(server.calls[0]?.request).toMatchObject({ call: 'devices.release', ...account, deviceId });
    expect(server.calls[0]?.request).not.toHaveProperty('deviceName');
    expect(await devices.move({ ...owner, hwid, releaseDeviceId: otherId })).toMatchObject({
      ...verdict,
      ...left,
      deviceId,
      releasedDeviceId: deviceId,
    });
    const labels = { deviceName: 'Laptop', platform: 'Linux' };
    expect(server.calls[1]?.request).toMatchObject({ call: 'devices.move', ...labels, hwid });
    await devices.move({ ...owner, hwid: 'other', deviceName: 'Phone' });
    expect(server.calls[2]?.request).toMatchObject({ deviceName: 'Phone', platform: 'Linux' });
    expect(server.calls[2]?.request).not.toHaveProperty('releaseDeviceId');
  });

  test.for([
    ['DEVICE_RELEASED', 'releasedAt'],
    ['MOVE_COOLDOWN', 'retryAt'],
    ['MOVES_EXHAUSTED', 'resetsAt'],
  ] as const)('%s says when, as a date', async ([code, name], { server }) => {
    server.onCall = ({ refused }) => refused(code, { [name]: at });
    const { devices } = createClient(server.options);
    const refusal = { kind: 'verdict', valid: false, code, [name]: new Date(at) };
    for (const answer of [
      await devices.list(owner),
      await devices.release({ ...owner, deviceId }),
      await devices.move({ ...owner, hwid }),
      await createClient(server.options).validate(licenseKey),
    ]) {
      expect(answer).toMatchObject(refusal);
    }
    server.onCall = ({ refused }) => refused(code, { [name]: 'soon' });
    expect(await devices.list(owner)).not.toHaveProperty(name);
  });

  test('give a failure where no answer can be had, and never reject', async ({ server }) => {
    const { devices } = createClient(server.options);
    for (const ask of [devices.list, devices.release, devices.move]) {
      // JavaScript callers can pass anything.
      expect(await Reflect.apply(ask, undefined, [])).toMatchObject({ code: 'VALIDATION_FAILED' });
    }
    disconnect(server);
    const failure = { kind: 'failure', reason: 'network' };
    expect(await devices.list(owner)).toMatchObject(failure);
    expect(await devices.release({ ...owner, deviceId })).toMatchObject(failure);
    expect(await devices.move({ ...owner, hwid })).toMatchObject(failure);
  });
});

describe('a stored lease', () => {
  const fromLease = { kind: 'verdict', valid: true, source: 'lease' };

  /** A device that has a lease. */
  async function leased(server: StandIn) {
    const device = createDevice(server);
    issueLeases(server);
    expect(await device.validate()).toMatchObject(verdictOfService);
    return device;
  }
  const verdictOfService = { kind: 'verdict', valid: true, source: 'service' };

  const releases = {
    'released by itself': { members: { hwid }, answer: { current: true }, isKept: false },
    'released, which the client cannot know': { members: {}, answer: {}, isKept: false },
    'not released, but another one': { members: { hwid }, answer: {}, isKept: true },
    'not released, but one of another license': {
      members: {},
      answer: { licenseId: otherId },
      isKept: true,
    },
  };
  test.for(Object.entries(releases))(
    'of a device that was %s',
    async ([, { members, answer, isKept }], { server }) => {
      const device = await leased(server);
      server.onCall = (call) => call.sealed({ ...call.answer, ...answer });
      const released = await device.client().devices.release({ ...owner, deviceId, ...members });
      expect(released).toMatchObject({ kind: 'verdict', valid: true });
      disconnect(server);
      expect(await device.validate()).toMatchObject(isKept ? fromLease : { kind: 'failure', lease: 'none' });
      // Also for the next run.
      device.restart();
      expect(await device.validate()).toMatchObject(isKept ? fromLease : { kind: 'failure', lease: 'none' });
    },
  );

  test('is gone after the license was moved to another device, and stays after a refusal', async ({
    server,
  }) => {
    const device = await leased(server);
    server.onCall = ({ refused }) => refused('MOVE_COOLDOWN', { retryAt: at });
    await device.client().devices.move({ ...owner, hwid: 'other', releaseDeviceId: deviceId });
    disconnect(server);
    expect(await device.validate()).toMatchObject(fromLease);
    server.onCall = ({ good }) => good();
    await device.client().devices.move({ ...owner, hwid: 'other', releaseDeviceId: deviceId });
    disconnect(server);
    expect(await device.validate()).toMatchObject({ kind: 'failure', lease: 'none' });
  });

  test('of the device to which the license was moved is renewed at the next question', async ({ server }) => {
    const device = await leased(server);
    server.onCall = ({ good }) => good();
    await device.client().devices.move({ ...owner, hwid, releaseDeviceId: otherId });
    const { issued } = issueLeases(server, { seq: 2, rev: 2 });
    await device.validate();
    expect(issued).toHaveLength(1);
  });

  test('is not renewed at every question because the license has a grace', async ({ server }) => {
    const device = createDevice(server);
    const { issued } = issueLeases(server, { lex: Date.parse('2030-01-08T00:00:00.000Z') / 1000 });
    for (let question = 0; question < 3; question += 1) await device.validate();
    expect(issued).toHaveLength(1);
  });

  test('is renewed when the license entitles to something else', async ({ server }) => {
    const device = await leased(server);
    server.onCall = ({ sealed, answer }) => sealed({ ...answer, entitlements: { seats: 6 } });
    await device.validate();
    const { issued } = issueLeases(server, { seq: 2 });
    await device.validate();
    expect(issued).toHaveLength(1);
  });
});
