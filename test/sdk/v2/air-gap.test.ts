import { describe, expect } from 'vitest';
import type { JsonObject } from '../../../src/protocol/canonical-json.ts';
import { deviceHash } from '../../../src/protocol/v2/device-hash.ts';
import { readDeviceRequest } from '../../../src/protocol/v2/device-request.ts';
import { leaseHeader } from '../../../src/protocol/v2/signed-token.ts';
import { test } from './fixture.ts';
import { claimsOf, createDevice, day, disconnect, hour, hwid, licenseKey, term } from './lease-device.ts';
import { appId, type StandIn } from './stand-in.ts';

const fromLease = { kind: 'verdict', valid: true, source: 'lease' };
const of = { licenseKey, hwid };

/** A device without a network, and the vendor who issues leases for what it shows. */
function airGapped(server: StandIn) {
  disconnect(server);
  const device = createDevice(server);
  return {
    ...device,
    leases: () => device.client().leases,
    answer: (request: string, change: JsonObject = {}) => {
      const { nonce = '' } = readDeviceRequest(request) ?? {};
      return server.token(leaseHeader, claimsOf(server, { non: nonce, ...change }));
    },
  };
}

describe('a device request', () => {
  test('is a text of 91 characters with the application, the device and a fresh nonce', async ({
    server,
  }) => {
    const { leases } = airGapped(server);
    const texts = [await leases().deviceRequest(hwid), await leases().deviceRequest(hwid)];
    for (const text of texts) {
      expect(text).toMatch(/^LKQ2\.[\w-]{86}$/);
      expect(readDeviceRequest(text)).toMatchObject({ appId, device: deviceHash(appId, hwid) });
    }
    expect(new Set(texts.map((text) => readDeviceRequest(text)?.nonce)).size).toBe(2);
  });

  test('made at the same time as others is answered like them', async ({ server }) => {
    const { leases, answer } = airGapped(server);
    const requests = await Promise.all([1, 2, 3, 4].map(() => leases().deviceRequest(hwid)));
    for (const [index, request] of requests.entries()) {
      const lease = answer(request, { seq: index + 1 });
      expect(await leases().importLease(lease, of)).toMatchObject(fromLease);
    }
  });

  test('for a malformed hwid is a TypeError', async ({ server }) => {
    const { leases } = airGapped(server);
    for (const malformed of ['', 'x'.repeat(257), 'a\0', undefined]) {
      await expect(leases().deviceRequest(String(malformed ?? ''))).rejects.toThrow(TypeError);
    }
  });
});

test('a device request that could not be stored is an error', async ({ server }) => {
  const { leases, store } = airGapped(server);
  store.write = () => Promise.reject(new Error('read-only'));
  await expect(leases().deviceRequest(hwid)).rejects.toThrow('The store has not taken the device request');
  const forgetful = createDevice(server, { store: null }).client();
  await expect(forgetful.leases.deviceRequest(hwid)).rejects.toThrow(Error);
});

test('values that are no texts are failures', async ({ server }) => {
  const { leases } = airGapped(server);
  const bare = Object.create(null);
  const failed = { kind: 'failure' };
  expect(await leases().check({ licenseKey: bare, hwid: bare })).toMatchObject(failed);
  expect(await leases().importLease(bare, { licenseKey: bare, hwid: bare })).toMatchObject(failed);
  expect(await leases().importRevocations(bare)).toMatchObject(failed);
});

describe('an imported lease', () => {
  test('that answers a device request is a verdict from then on, also after a restart', async ({
    server,
  }) => {
    const { leases, answer, validate, restart } = airGapped(server);
    const lease = answer(await leases().deviceRequest(hwid));
    restart();
    expect(await leases().importLease(` ${lease.slice(0, 70)}\r\n${lease.slice(70)}\n`, of)).toMatchObject({
      ...fromLease,
      leaseExpiresAt: expect.any(Date),
    });
    expect(await validate()).toMatchObject(fromLease);
    restart();
    expect(await leases().check(of)).toMatchObject(fromLease);
  });

  test('is accepted once for each request', async ({ server }) => {
    const { leases, answer, passWithoutProgram } = airGapped(server);
    const lease = answer(await leases().deviceRequest(hwid));
    await leases().importLease(lease, of);
    passWithoutProgram(day);
    expect(await leases().importLease(lease, of)).toMatchObject({ kind: 'failure', lease: 'not-requested' });
    expect(await leases().check(of)).toMatchObject(fromLease);
  });

  test.for<[string, JsonObject, string]>([
    ['without a nonce', { non: undefined }, 'not-requested'],
    ['with another nonce', { non: 'A'.repeat(22) }, 'not-requested'],
    ['for another device', { dev: 'A'.repeat(43) }, 'invalid'],
    ['of another application', { aud: '01890a5d-ac96-774b-bcce-b302099a8058' }, 'invalid'],
    ['that has ended', { iat: 1, nbf: 1, exp: 2 }, 'expired'],
  ])('%s is refused, and the right one then accepted', async ([, change, problem], { server }) => {
    const { leases, answer } = airGapped(server);
    const request = await leases().deviceRequest(hwid);
    expect(await leases().importLease(answer(request, change), of)).toMatchObject({
      kind: 'failure',
      reason: 'no-lease',
      lease: problem,
    });
    expect(await leases().check(of)).toMatchObject({ lease: 'none' });
    expect(await leases().importLease(answer(request), of)).toMatchObject(fromLease);
  });

  test('with a forged signature, or that is no text, is refused', async ({ server }) => {
    const { leases } = airGapped(server);
    await leases().deviceRequest(hwid);
    const forged = server.token(leaseHeader, claimsOf(server), new Uint8Array(32));
    for (const lease of [forged, '', Object(undefined), Object(7)]) {
      expect(await leases().importLease(lease, of)).toMatchObject({ kind: 'failure', lease: 'invalid' });
    }
  });

  test.for(['seq', 'rev'])('with a lower %s than one before is refused', async (name, { server }) => {
    const { leases, answer } = airGapped(server);
    const [first, second] = [await leases().deviceRequest(hwid), await leases().deviceRequest(hwid)];
    await leases().importLease(answer(first, { seq: 5, rev: 5 }), of);
    expect(await leases().importLease(answer(second, { seq: 6, rev: 6, [name]: 4 }), of)).toMatchObject({
      kind: 'failure',
      lease: 'superseded',
    });
  });

  test('is accepted on a device whose clock is a little behind, and not used where it is far behind', async ({
    server,
  }) => {
    const { leases, answer, turnClock } = airGapped(server);
    turnClock(-hour / 2);
    const lease = answer(await leases().deviceRequest(hwid));
    expect(await leases().importLease(lease, of)).toMatchObject(fromLease);
    turnClock(-hour);
    expect(await leases().check(of)).toMatchObject({ lease: 'clock-set-back' });
  });

  test('is the present, like an answer of the service, after a clock was ahead for a while', async ({
    server,
  }) => {
    const { leases, answer, turnClock } = airGapped(server);
    const held = answer(await leases().deviceRequest(hwid));
    await leases().importLease(answer(await leases().deviceRequest(hwid), { seq: 1 }), of);
    turnClock(term - hour);
    expect(await leases().check(of)).toMatchObject(fromLease);
    turnClock(-(term - hour));
    expect(await leases().check(of)).toMatchObject({ lease: 'clock-set-back' });
    expect(await leases().importLease(held, of)).toMatchObject(fromLease);
    expect(await leases().check(of)).toMatchObject(fromLease);
    turnClock(-hour - 1);
    expect(await leases().check(of)).toMatchObject({ lease: 'clock-set-back' });
  });

  test('of a device whose clock was years ahead is used once the clock is right', async ({ server }) => {
    const { leases, answer, turnClock, restart } = airGapped(server);
    await leases().importLease(answer(await leases().deviceRequest(hwid)), of);
    turnClock(365 * day);
    expect(await leases().check(of)).toMatchObject({ lease: 'expired' });
    turnClock(-365 * day);
    restart();
    const lease = answer(await leases().deviceRequest(hwid), { seq: 2 });
    expect(await leases().importLease(lease, of)).toMatchObject(fromLease);
    restart();
    expect(await leases().check(of)).toMatchObject(fromLease);
    expect(await leases().importLease(lease, of)).toMatchObject({ lease: 'not-requested' });
  });

  test('that could not be stored is a failure, and can be imported again', async ({ server }) => {
    const { leases, answer, store, restart } = airGapped(server);
    const lease = answer(await leases().deviceRequest(hwid));
    const { write } = store;
    store.write = () => Promise.reject(new Error('read-only'));
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await leases().importLease(lease, of)).toMatchObject({ kind: 'failure', lease: 'not-stored' });
    }
    store.write = write;
    expect(await leases().importLease(lease, of)).toMatchObject(fromLease);
    restart();
    expect(await leases().check(of)).toMatchObject(fromLease);
  });

  test('answers one of the last four requests', async ({ server }) => {
    const { leases, answer } = airGapped(server);
    const requests = [];
    for (let turn = 0; turn < 5; turn += 1) requests.push(await leases().deviceRequest(hwid));
    expect(await leases().importLease(answer(requests[0] ?? ''), of)).toMatchObject({
      lease: 'not-requested',
    });
    expect(await leases().importLease(answer(requests[1] ?? ''), of)).toMatchObject(fromLease);
  });
});
