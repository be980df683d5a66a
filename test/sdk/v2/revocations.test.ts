import { describe, expect } from 'vitest';
import type { JsonObject } from '../../../src/protocol/canonical-json.ts';
import { shortLicenseId } from '../../../src/protocol/v2/revocations.ts';
import { leaseHeader, revocationsHeader } from '../../../src/protocol/v2/signed-token.ts';
import { json } from '../stand-in.ts';
import { test } from './fixture.ts';
import {
  claimsOf,
  createDevice,
  day,
  disconnect,
  hour,
  hwid,
  issueLeases,
  licenseKey,
} from './lease-device.ts';
import { appId, licenseId, type StandIn } from './stand-in.ts';

const of = { licenseKey, hwid };
const fromLease = { kind: 'verdict', valid: true, source: 'lease' };
const stored = { kind: 'revocations', issuedAt: expect.any(Date), expiresAt: expect.any(Date) };
const untrusted = { kind: 'failure', reason: 'untrusted-answer' };

/** A list that revokes the license of these tests at the counter's value 2; their leases are of value 1. */
function listOf(server: StandIn, change: JsonObject = {}, seed?: Uint8Array): string {
  const iat = Math.floor(server.clock / 1000);
  const revoked = { [shortLicenseId(licenseId)]: 2 };
  return server.token(
    revocationsHeader,
    { aud: appId, iat, exp: iat + day, rev: 2, revoked, ...change },
    seed,
  );
}

/** A device that has a lease, and then no network. */
async function leased(server: StandIn) {
  const device = createDevice(server);
  issueLeases(server);
  await device.validate();
  disconnect(server);
  return { ...device, leases: () => device.client().leases };
}

describe('a revocation list', () => {
  test('that was carried to the device ends the use of a revoked lease, also after a restart', async ({
    server,
  }) => {
    const { leases, validate, restart } = await leased(server);
    expect(await leases().importRevocations(` ${listOf(server)}\n`)).toEqual(stored);
    expect(await validate()).toMatchObject({ kind: 'failure', lease: 'revoked' });
    restart();
    expect(await leases().check(of)).toMatchObject({ kind: 'failure', reason: 'no-lease', lease: 'revoked' });
  });

  test('that the service has is fetched', async ({ server }) => {
    const { leases } = await leased(server);
    server.onRevocations = () => ({ status: 200, body: listOf(server) });
    expect(await leases().fetchRevocations()).toEqual(stored);
    expect(await leases().check(of)).toMatchObject({ lease: 'revoked' });
  });

  test('of 20,000 licenses is read, stored and used', async ({ server }) => {
    const { leases, restart } = await leased(server);
    const ids = Array.from({ length: 20_000 }, (_, index) => [`AAAAA${String(index).padStart(5, '0')}A`, 2]);
    const revoked = { ...Object.fromEntries(ids), [shortLicenseId(licenseId)]: 2 };
    server.onRevocations = () => ({ status: 200, body: listOf(server, { revoked }) });
    expect(await leases().fetchRevocations()).toEqual(stored);
    restart();
    expect(await leases().check(of)).toMatchObject({ lease: 'revoked' });
  });

  test('that names another license changes nothing', async ({ server }) => {
    const { leases } = await leased(server);
    expect(await leases().importRevocations(listOf(server, { revoked: { AAAAAAAAAAA: 2 } }))).toEqual(stored);
    expect(await leases().check(of)).toMatchObject(fromLease);
  });

  test('does not revoke a lease that was issued after it', async ({ server }) => {
    const { leases, validate } = await leased(server);
    await leases().importRevocations(listOf(server));
    server.onKeys = () => ({ status: 200, body: server.statement() });
    issueLeases(server, { rev: 2, seq: 2 });
    await validate();
    disconnect(server);
    expect(await validate()).toMatchObject(fromLease);
  });

  test('revokes also after its own end', async ({ server }) => {
    const { leases, pass } = await leased(server);
    await leases().importRevocations(listOf(server));
    pass(2 * day);
    expect(await leases().check(of)).toMatchObject({ lease: 'revoked' });
  });

  test('revokes a lease that is imported later', async ({ server }) => {
    const { leases, store } = await leased(server);
    await leases().deviceRequest(hwid);
    const record = JSON.parse(store.texts.get(`${appId}/leases`) ?? '');
    const lease = server.token(leaseHeader, claimsOf(server, { non: record.nonces[0], seq: 2 }));
    await leases().importRevocations(listOf(server));
    expect(await leases().importLease(lease, of)).toMatchObject({ kind: 'failure', lease: 'revoked' });
  });

  test.for<[string, (server: StandIn) => string]>([
    ['signed by another key', (server) => listOf(server, {}, new Uint8Array(32))],
    ['of another application', (server) => listOf(server, { aud: '01890a5d-ac96-774b-bcce-b302099a8058' })],
    ['older than the last one', (server) => listOf(server, { rev: 1 })],
    ['that is a lease', (server) => server.token(leaseHeader, claimsOf(server))],
    ['that has ended', (server) => listOf(server, { iat: 1, exp: 2, rev: 3 })],
    ['that is nonsense', () => 'nonsense'],
    ['that is empty', () => ''],
  ])('%s is not stored', async ([, make], { server }) => {
    const { leases } = await leased(server);
    await leases().importRevocations(listOf(server));
    expect(await leases().importRevocations(make(server))).toMatchObject(untrusted);
    server.onRevocations = () => ({ status: 200, body: make(server) });
    expect(await leases().fetchRevocations()).toMatchObject(untrusted);
    expect(await leases().check(of)).toMatchObject({ lease: 'revoked' });
  });

  test.for(['', 'nonsense', 'older'])(
    'that is %j in the store now ends the use of leases',
    async (text, { server }) => {
      const { leases, store } = await leased(server);
      await leases().importRevocations(listOf(server, { revoked: {} }));
      expect(await leases().check(of)).toMatchObject(fromLease);
      const older = listOf(server, { revoked: {}, rev: 1 });
      store.texts.set(`${appId}/revocations`, text === 'older' ? older : text);
      expect(await leases().check(of)).toMatchObject({ lease: 'revocations-missing' });
      await leases().importRevocations(listOf(server, { revoked: {} }));
      expect(await leases().check(of)).toMatchObject(fromLease);
    },
  );

  test('that could not be stored is a failure, and counts until the program ends', async ({ server }) => {
    const { leases, store } = await leased(server);
    store.write = () => Promise.reject(new Error('read-only'));
    const notStored = { kind: 'failure', reason: 'no-lease', lease: 'not-stored' };
    expect(await leases().importRevocations(listOf(server))).toMatchObject(notStored);
    expect(await leases().check(of)).toMatchObject({ lease: 'revoked' });
  });

  test('says a time that has been reached', async ({ server }) => {
    const { leases } = await leased(server);
    const iat = Math.floor(server.clock / 1000) + 2 * hour;
    await leases().importRevocations(listOf(server, { iat, exp: iat + day, revoked: {} }));
    expect(await leases().check(of)).toMatchObject({ lease: 'clock-set-back' });
  });
});

describe('fetching', () => {
  test.for([
    ['an unsigned 503', 'unavailable', json(503, { success: false, error: 'No', code: 'UNAVAILABLE' })],
    ['an unsigned 429', 'rate-limited', json(429, { success: false, error: 'No', code: 'RATE_LIMITED' })],
    ['a redirect', 'network', { status: 307, headers: { location: '/elsewhere' }, body: '' }],
    ['2 MB', 'untrusted-answer', { status: 200, body: 'A'.repeat(2_000_000) }],
  ] as const)('that is answered by %s is a failure', async ([, reason, reply], { server }) => {
    const { leases } = await leased(server);
    server.onRevocations = () => reply;
    expect(await leases().fetchRevocations()).toMatchObject({ kind: 'failure', reason });
  });

  test('can be aborted', async ({ server }) => {
    const { leases } = await leased(server);
    const controller = new AbortController();
    server.onRevocations = () => () => controller.abort();
    expect(await leases().fetchRevocations({ signal: controller.signal })).toMatchObject({
      reason: 'aborted',
    });
  });
});
