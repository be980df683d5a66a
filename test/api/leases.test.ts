import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { deviceHash } from '../../src/protocol/v2/device-hash.ts';
import { deviceRequestText } from '../../src/protocol/v2/device-request.ts';
import { type LeaseClaims, readLease } from '../../src/protocol/v2/lease.ts';
import { readRevocations, revokes } from '../../src/protocol/v2/revocations.ts';
import { leaseHeader, revocationsHeader } from '../../src/protocol/v2/signed-token.ts';
import { type ClientOptions, createClient } from '../../src/sdk/index.ts';
import { ApiClient } from '../setup/api-client.ts';
import { createCallClient } from '../setup/call-client.ts';
import { startTestServer } from '../setup/server.ts';
import { insertBan, sql, storedLicense, storedLog } from '../setup/stored.ts';
import { forTest, useServer } from '../setup/use-world.ts';
import { createWorld, type SeededApplication, type SeededLicense } from '../setup/world.ts';
import { expectFailure, noLimits } from './support.ts';

// Leases over the sealed protocol and over REST.

const server = useServer({ env: noLimits });
// For each test: tests step the clock past the end of a cookie.
const world = forTest(() => createWorld(server));
const application = forTest(() => leasing());

const day = 24 * 60 * 60;
const hwid = 'device-1';

async function leasing(settings: Record<string, unknown> = {}): Promise<SeededApplication> {
  const made = await world.createApplication();
  await made.settings({ leasesEnabled: true, ...settings });
  return made;
}

const now = () => Math.floor(server.clock.now() / 1000);
const publicKeyOf = (of: SeededApplication) => new Uint8Array(Buffer.from(of.publicKeyB64, 'base64'));
const ask = (call: string, members: Record<string, unknown>, of: SeededApplication = application) =>
  createCallClient(server, of).ask(call, members);

/** The claims of a lease that its device accepts. */
function accepted(lease: unknown, device = hwid, of: SeededApplication = application): LeaseClaims {
  const result = readLease(String(lease), {
    appId: of.id,
    publicKey: publicKeyOf(of),
    device: deviceHash(of.id, device),
    time: now(),
  });
  return result.ok ? result.claims : expect.fail(`refused: ${result.failed}`);
}

async function leased({ licenseKey }: SeededLicense, device = hwid, seq?: number): Promise<LeaseClaims> {
  const answer = await ask('lease', { licenseKey, hwid: device, seq });
  expect(answer).toMatchObject({ success: true, code: 'OK' });
  return accepted(answer.lease, device);
}

async function revocations(of: SeededApplication = application) {
  const response = await fetch(`${server.baseUrl}/api/v2/revocations/${of.id}`);
  expect(response.status).toBe(200);
  const text = await response.text();
  const result = readRevocations(text, { appId: of.id, publicKey: publicKeyOf(of), time: now() });
  return result.ok ? result.claims : expect.fail(`refused: ${result.failed}`);
}

const options = (of: SeededApplication): ClientOptions => ({
  baseUrl: server.baseUrl,
  appId: of.id,
  publicKeyB64: of.publicKeyB64,
  version: of.version,
  now: () => server.clock.now(),
});

const post = (path: string, body: unknown = {}, client: ApiClient = world.client) =>
  client.post(`/api/v1${path}`, body);
async function done(answer: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await answer;
  expect(status, JSON.stringify(body)).toBeLessThan(300);
}

describe('a lease', () => {
  test('comes with a validation that asks for it', async () => {
    const license = await application.mintOne({ subscriptionTier: 3 });
    const { licenseKey } = license;
    const answer = await ask('validate', { licenseKey, hwid, lease: true });
    expect(answer).toMatchObject({ code: 'OK', licenseId: license.id });
    const claims = accepted(answer.lease);
    expect(claims).toEqual({
      aud: application.id,
      sub: license.id,
      jti: expect.any(String),
      iat: claims.iat,
      nbf: claims.iat,
      exp: claims.iat + 7 * day,
      lex: null,
      dev: deviceHash(application.id, hwid),
      tier: 3,
      ent: {},
      rev: 0,
      seq: expect.any(Number),
    });
    expect(Math.abs(claims.iat - now())).toBeLessThanOrEqual(60);
    expect(await ask('validate', { licenseKey, hwid })).not.toHaveProperty('lease');
    expect(await ask('validate', { licenseKey, hwid, lease: false })).not.toHaveProperty('lease');
  });

  test('has the constant header, byte for byte', async () => {
    const { licenseKey } = await application.mintOne();
    const { lease } = await ask('lease', { licenseKey, hwid });
    const [header = ''] = String(lease).split('.');
    expect(Buffer.from(header, 'base64url').toString()).toBe(leaseHeader);
    const response = await fetch(`${server.baseUrl}/api/v2/revocations/${application.id}`);
    const [listHeader = ''] = (await response.text()).split('.');
    expect(Buffer.from(listHeader, 'base64url').toString()).toBe(revocationsHeader);
  });

  test('needs a HWID', async () => {
    const { licenseKey } = await application.mintOne();
    for (const call of ['validate', 'lease']) {
      expect(await ask(call, { licenseKey, lease: true })).toMatchObject({ code: 'VALIDATION_FAILED' });
    }
  });

  test('is issued for the term of the application, and not beyond the end of the license', async () => {
    await application.settings({ leaseDays: 30 });
    const endless = await leased(await application.mintOne());
    expect(endless.exp - endless.iat).toBe(30 * day);
    const short = await application.mintOne({ durationSeconds: 100 });
    const claims = await leased(short);
    const stored = await storedLicense(server, short.id);
    const end = Math.floor(Number(stored?.expiresAt) / 1000);
    expect(claims).toMatchObject({ exp: end, lex: end });
    server.clock.hold();
    try {
      server.clock.step((Number(stored?.expiresAt) - server.clock.now()) / 1000 - 0.001);
      const answer = await ask('lease', { licenseKey: short.licenseKey, hwid });
      expect(answer).toMatchObject({ success: false, code: 'EXPIRED', licenseId: short.id });
      const valid = await ask('validate', { licenseKey: short.licenseKey, hwid, lease: true });
      expect(valid).toMatchObject({ success: true });
      expect(valid).not.toHaveProperty('lease');
    } finally {
      server.clock.release();
    }
  });

  test('has a higher sequence number than the one before, on each device separately', async () => {
    await application.settings({ hwidLockEnabled: false });
    const license = await application.mintOne();
    server.clock.hold();
    try {
      const numbers = [];
      for (const device of ['one', 'one', 'two', 'one']) numbers.push((await leased(license, device)).seq);
      const [first = 0, second, other, third] = numbers;
      expect([second, other, third]).toEqual([first + 1, first, first + 2]);
    } finally {
      server.clock.release();
    }
  });

  test('has a higher sequence number after its row was lost, as after a restore or a purge', async () => {
    const license = await application.mintOne();
    const { seq } = await leased(license);
    await sql(server, 'DELETE FROM leases WHERE license_id = $1', [license.id]);
    server.clock.step(5);
    expect((await leased(license)).seq).toBeGreaterThan(seq);
  });

  test('is refused with the verdict of a validation', async () => {
    const bound = await application.mintOne();
    await leased(bound, 'one');
    const banned = await application.mintOne();
    await done(post(`/licenses/${banned.id}/ban`));
    const foreign = await (await world.createApplication()).mintOne();
    await insertBan(server, application.id, 'hwid', 'banned device');
    const cases = [
      ['HWID_MISMATCH', bound.licenseKey, 'two'],
      ['BANNED', banned.licenseKey, 'one'],
      ['APP_MISMATCH', foreign.licenseKey, 'one'],
      ['LICENSE_NOT_FOUND', 'no such key', 'one'],
      ['HWID_BANNED', (await application.mintOne()).licenseKey, 'banned device'],
    ] as const;
    for (const [code, licenseKey, device] of cases) {
      const answer = await ask('lease', { licenseKey, hwid: device });
      expect(answer).toMatchObject({ success: false, code });
      expect(answer).not.toHaveProperty('lease');
    }
  });

  test('is not issued where the application issues none, and the license is not touched', async () => {
    await application.settings({ leasesEnabled: false });
    const { id, licenseKey } = await application.mintOne();
    const answer = await ask('lease', { licenseKey, hwid });
    expect(answer).toMatchObject({ success: false, code: 'LEASES_DISABLED', status: null, expiresAt: null });
    expect(await storedLicense(server, id)).toMatchObject({ status: 'unused', hwid: null });
    const valid = await ask('validate', { licenseKey, hwid, lease: true });
    expect(valid).toMatchObject({ success: true });
    expect(valid).not.toHaveProperty('lease');
    await application.settings({ status: 'disabled' });
    expect(await ask('lease', { licenseKey, hwid })).toMatchObject({ code: 'APP_DISABLED' });
  });
});

describe('beside entitlements and metadata', () => {
  const names = Array.from({ length: 50 }, (_, index) => `code-${index}`.padEnd(64, '.'));
  const each = (value: string, all = names) => Object.fromEntries(all.map((name) => [name, value]));
  const bytes = (value: object) => Buffer.byteLength(JSON.stringify(value));
  /** As long as a part may be, to the byte, of characters that take three. */
  const longest = (count: number) => {
    const part = each('\u9580'.repeat(Math.floor((16_300 / count - 70) / 3)), names.slice(0, count));
    return { ...part, rest: 'x'.repeat(16_384 - bytes({ ...part, rest: '' })) };
  };
  const minted = async (terms: object) => {
    const answer = await post('/licenses/create', {
      applicationId: application.id,
      amount: 1,
      durationSeconds: 3_600,
      ...terms,
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return z
      .object({ keys: z.array(z.object({ id: z.string(), licenseKey: z.string() })) })
      .parse(answer.body).keys[0];
  };

  test.each([1, 2] as const)('a license that has as much as it may fits, in version %i', async (protocol) => {
    await application.settings({ responseMessages: { OK: '\u9580'.repeat(500) } });
    const [entitlements, client] = [longest(49), longest(30)];
    expect([bytes(entitlements), bytes(client)]).toEqual([16_384, 16_384]);
    const license = await minted({ entitlements, metadata: { client } });
    const device = '\u9580'.repeat(256);
    const sdk = createClient({ ...options(application), protocol });
    const answer = await sdk.validate(license?.licenseKey ?? '', { hwid: device });
    expect(answer).toMatchObject({ valid: true, entitlements, metadata: client });
    if (protocol === 1) return;
    for (const call of ['validate', 'lease']) {
      const { lease, metadata } = await ask(call, {
        ...license,
        hwid: device,
        lease: call === 'validate' || undefined,
      });
      expect(accepted(lease, device).ent).toEqual(entitlements);
      expect(metadata).toEqual(client);
    }
  });

  test('fifty of the longest texts fit', async () => {
    const entitlements = each('x'.repeat(200));
    const license = await minted({ entitlements, metadata: { client: { note: 'y'.repeat(500) } } });
    const { lease } = await ask('validate', { ...license, hwid, lease: true });
    expect(accepted(lease).ent).toEqual(entitlements);
  });

  test('more is refused, by bytes', async () => {
    const license = await application.mintOne();
    const tooMuch = { ...longest(49), rest: `${longest(49).rest}x` };
    for (const [terms, path] of [
      [{ entitlements: tooMuch }, ['entitlements']],
      [{ metadata: { client: tooMuch } }, ['metadata', 'client']],
    ] as const) {
      const policy = { code: 'much', name: 'Much', ...terms };
      const mint = { applicationId: application.id, amount: 1, durationSeconds: 60, ...terms };
      for (const answer of [
        await post('/licenses/create', mint),
        await world.client.patch(`/api/v1/licenses/${license.id}`, terms),
        await post(`/apps/${application.id}/policies`, policy),
      ]) {
        expectFailure(answer, 400, 'VALIDATION_FAILED');
        expect(answer.body).toMatchObject({
          issues: [{ path, message: 'must be at most 16384 bytes as JSON' }],
        });
      }
    }
  });

  test('a license from before the limit is valid, with what fits, and has no lease', async () => {
    const license = await application.mintOne();
    const much = each('\u9580'.repeat(200));
    const set = (entitlements: object, client: object) =>
      sql(server, 'UPDATE licenses SET entitlements = $2, metadata = $3 WHERE id = $1', [
        license.id,
        entitlements,
        { client, private: {} },
      ]);
    const deviceRequest = deviceRequestText({
      appId: application.id,
      device: deviceHash(application.id, hwid),
      nonce: randomBytes(16).toString('base64url'),
    });
    for (const [entitlements, expected] of [
      [much, { code: 'OK', entitlements: much }],
      [each('\u0001'.repeat(200)), { code: 'OK' }],
    ] as const) {
      await set(entitlements, much);
      await server.deps.services.changes.tell([{ cache: 'license', keys: 'all' }]);
      const answer = await ask('validate', { ...license, hwid, lease: true });
      expect(answer).toMatchObject(expected);
      expect(answer).not.toHaveProperty('metadata');
      expect(answer).not.toHaveProperty('lease');
      const sdk = createClient({ ...options(application), protocol: 1 });
      expect(await sdk.validate(license.licenseKey, { hwid })).toMatchObject({ valid: true });
    }
    expect(await ask('lease', { ...license, hwid })).toMatchObject({ code: 'LEASES_DISABLED' });
    const offline = await post(`/licenses/${license.id}/offline-lease`, { deviceRequest });
    expectFailure(offline, 409, 'LIMIT_REACHED');
  });
});

describe('the security log', () => {
  const log = (event: string) => storedLog(server, application.id, event);

  test('has one issue per half of a term', async () => {
    const license = await application.mintOne();
    const { seq, exp } = await leased(license);
    for (let renewal = 0; renewal < 3; renewal += 1) await leased(license);
    expect(await log('lease_issued')).toEqual([
      expect.objectContaining({
        licenseId: license.id,
        hwid,
        metadata: { seq, expiresAt: new Date(exp * 1000).toISOString() },
      }),
    ]);
    server.clock.step(3.5 * day + 1);
    await leased(license);
    await leased(license);
    expect(await log('lease_issued')).toHaveLength(2);
  });

  test('says that a device came back with an older lease than its last', async () => {
    const license = await application.mintOne();
    const first = await leased(license);
    const second = await leased(license, hwid, first.seq);
    expect(await log('lease_rolled_back')).toEqual([]);
    await leased(license, hwid, first.seq);
    expect(await log('lease_rolled_back')).toEqual([
      expect.objectContaining({
        licenseId: license.id,
        hwid,
        metadata: { heldSeq: first.seq, issuedSeq: second.seq },
      }),
    ]);
  });
});

describe('a revocation', () => {
  const ways: readonly [string, (license: SeededLicense) => Promise<void>][] = [
    ['banned', ({ id }) => done(post(`/licenses/${id}/ban`))],
    ['banned with its device', ({ id }) => done(post(`/licenses/${id}/ban`, { scope: 'hwid' }))],
    ['deleted', ({ id }) => done(world.client.delete(`/api/v1/licenses/${id}`))],
    ['unbound from its device', ({ id }) => done(post(`/licenses/${id}/reset-hwid`))],
    [
      'unbound through its end user',
      async ({ licenseKey }) => {
        const users = `/apps/${application.id}/users`;
        const { body } = await post(users, { username: 'ada', password: 'a long password', licenseKey });
        const { user } = body as { user: { id: string } };
        await done(post(`${users}/${user.id}/reset-hwid`));
      },
    ],
  ];

  test.each(ways)('of a license that is %s raises the counter and is listed', async (_way, revoke) => {
    const [license, other] = [await application.mintOne(), await application.mintOne()];
    const [claims, otherClaims] = [await leased(license), await leased(other, 'device-2')];
    expect(await revocations()).toEqual(expect.objectContaining({ rev: 0, revoked: {} }));
    await revoke(license);
    const list = await revocations();
    expect(list.rev).toBeGreaterThan(claims.rev);
    expect(revokes(list, claims)).toBe(true);
    expect(revokes(list, otherClaims)).toBe(false);
    expect((await leased(other, 'device-2')).rev).toBe(list.rev);
  });

  test('does not concern leases that are issued afterwards', async () => {
    const license = await application.mintOne();
    const before = await leased(license, 'old device');
    await done(post(`/licenses/${license.id}/reset-hwid`));
    const after = await leased(license, 'new device');
    const list = await revocations();
    expect([revokes(list, before), revokes(list, after)]).toEqual([true, false]);
    await done(post(`/licenses/${license.id}/ban`));
    const last = await revocations();
    expect(last.rev).toBeGreaterThan(list.rev);
    expect([revokes(last, before), revokes(last, after)]).toEqual([true, true]);
  });

  test('of a device revokes its leases of every license', async () => {
    const one = await application.mintOne();
    await leased(one);
    // Bound to the device before another license's ban.
    const two = await application.mintOne();
    const claims = await leased(two);
    await done(post(`/licenses/${one.id}/ban`, { scope: 'hwid' }));
    expect(revokes(await revocations(), claims)).toBe(true);
  });

  test('happens once: a second ban and a license without leases change no list', async () => {
    const license = await application.mintOne();
    await leased(license);
    await done(post(`/licenses/${license.id}/ban`));
    const list = await revocations();
    await done(post(`/licenses/${license.id}/ban`));
    await done(post(`/licenses/${(await application.mintOne()).id}/ban`));
    expect(await revocations()).toEqual(list);
  });

  test('is listed until the last lease has ended, also after the license is gone', async () => {
    const license = await application.mintOne();
    const claims = await leased(license);
    await done(world.client.delete(`/api/v1/licenses/${license.id}`));
    server.clock.step(7 * day - 60);
    expect(revokes(await revocations(), claims)).toBe(true);
    // A day for the list, and an hour for slow clocks.
    server.clock.step(day + 2 * 3_600);
    expect((await revocations()).revoked).toEqual({});
  });

  test('is only in the list of its application', async () => {
    const other = await leasing();
    const license = await application.mintOne();
    const claims = await leased(license);
    await done(post(`/licenses/${license.id}/ban`));
    expect(await revocations(other)).toEqual(expect.objectContaining({ rev: 0, revoked: {} }));
    expect(revokes(await revocations(), claims)).toBe(true);
  });
});

describe('the revocation list', () => {
  const get = (id: string, headers: Record<string, string> = {}) =>
    fetch(`${server.baseUrl}/api/v2/revocations/${id}`, {
      headers: { origin: 'https://app.example', ...headers },
    });

  test('may be stored, is revalidated, and is open to every origin', async () => {
    const first = await get(application.id);
    expect(first.headers.get('content-type')).toBe('application/jwt');
    expect(first.headers.get('cache-control')).toBe('public, no-cache');
    expect(first.headers.get('access-control-allow-origin')).toBe('*');
    const etag = first.headers.get('etag') ?? expect.fail('no ETag');
    expect(etag).toMatch(/^"/);
    expect((await get(application.id, { 'if-none-match': etag })).status).toBe(304);
    const license = await application.mintOne();
    await leased(license);
    await done(post(`/licenses/${license.id}/ban`));
    expect((await get(application.id, { 'if-none-match': etag })).status).toBe(200);
  });

  test('is signed once until it changes, the same on every instance', async () => {
    const one = await (await get(application.id)).text();
    expect(await (await get(application.id)).text()).toBe(one);
    const list = readRevocations(one, {
      appId: application.id,
      publicKey: publicKeyOf(application),
      time: now(),
    });
    expect(list).toMatchObject({ ok: true, claims: { exp: expect.any(Number) } });
    server.clock.step(day);
    expect(await (await get(application.id)).text()).not.toBe(one);
  });

  test.each([
    ['an unknown application', randomUUID()],
    ['what is no id', 'abc'],
    ['an id in capitals', randomUUID().toUpperCase()],
  ])('does not exist for %s', async (_name, id) => {
    const answer = await new ApiClient(server.baseUrl).get(`/api/v2/revocations/${id}`);
    expect(answer).toMatchObject({ status: 404, body: { success: false, code: 'APP_NOT_FOUND' } });
  });

  test('takes a point of the limit "session"', async () => {
    const limited = await startTestServer({ env: { RATE_LIMITS: 'session=1' } });
    try {
      const url = `${limited.baseUrl}/api/v2/revocations/${randomUUID()}`;
      expect((await fetch(url)).status).toBe(404);
      expect((await fetch(url)).status).toBe(429);
    } finally {
      await limited.close();
    }
  });
});

describe('an offline lease', () => {
  const nonce = randomBytes(16).toString('base64url');
  const requestOf = (device = hwid, of: SeededApplication = application) =>
    deviceRequestText({ appId: of.id, device: deviceHash(of.id, device), nonce });
  const issue = (id: string, body: Record<string, unknown>, client?: ApiClient) =>
    post(`/licenses/${id}/offline-lease`, body, client);
  const claimsOf = (answer: { body: unknown }, device = hwid) =>
    accepted((answer.body as { lease: string }).lease, device);

  test('answers a device request, and activates and binds the license', async () => {
    const license = await application.mintOne({ durationSeconds: 100 * day, subscriptionTier: 2 });
    const answer = await issue(license.id, { deviceRequest: requestOf() });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    const claims = claimsOf(answer);
    expect(claims).toMatchObject({ sub: license.id, tier: 2, non: nonce, exp: claims.iat + 7 * day });
    expect(answer.body).toMatchObject({ expiresAt: new Date(claims.exp * 1000).toISOString() });
    expect(await storedLicense(server, license.id)).toMatchObject({ status: 'active', hwid: null });
    expect(await storedLog(server, application.id, 'lease_issued')).toEqual([
      expect.objectContaining({
        licenseId: license.id,
        metadata: expect.objectContaining({ deviceHash: deviceHash(application.id, hwid) }),
      }),
    ]);
    // The device is bound by its hash, before its HWID is known and after.
    const { licenseKey } = license;
    expectFailure(await issue(license.id, { deviceRequest: requestOf('another') }), 403, 'HWID_MISMATCH');
    expect(await ask('validate', { licenseKey, hwid: 'another' })).toMatchObject({ code: 'HWID_MISMATCH' });
    expect(await ask('validate', { licenseKey, hwid })).toMatchObject({ code: 'OK' });
    expect(await storedLicense(server, license.id)).toMatchObject({ hwid });
    expectFailure(await issue(license.id, { deviceRequest: requestOf('another') }), 403, 'HWID_MISMATCH');
    expect((await issue(license.id, { deviceRequest: requestOf() })).status).toBe(201);
  });

  test('can be unbound, which revokes it', async () => {
    const license = await application.mintOne();
    const claims = claimsOf(await issue(license.id, { deviceRequest: requestOf() }));
    await done(post(`/licenses/${license.id}/reset-hwid`));
    expect(revokes(await revocations(), claims)).toBe(true);
    const next = claimsOf(await issue(license.id, { deviceRequest: requestOf('another') }), 'another');
    expect(revokes(await revocations(), next)).toBe(false);
    expectFailure(await issue(license.id, { deviceRequest: requestOf() }), 403, 'HWID_MISMATCH');
  });

  test('has the term that was asked for, and white space around its request does not matter', async () => {
    await application.settings({ leasesEnabled: false, hwidLockEnabled: false });
    const license = await application.mintOne();
    const claims = claimsOf(await issue(license.id, { deviceRequest: ` ${requestOf()}\n`, days: 30 }));
    expect(claims.exp - claims.iat).toBe(30 * day);
    // Without the lock, any device gets one.
    expect((await issue(license.id, { deviceRequest: requestOf('another') })).status).toBe(201);
  });

  test('is refused where a validation would be, and for what is no request', async () => {
    const license = await application.mintOne();
    for (const wrong of ['', 'LKQ2.', requestOf().slice(0, -1), requestOf().toLowerCase(), 'a'.repeat(300)]) {
      expectFailure(await issue(license.id, { deviceRequest: wrong }), 400, 'VALIDATION_FAILED');
    }
    for (const days of [0, 31, 1.5, '7']) {
      const body = { deviceRequest: requestOf(), days };
      expectFailure(await issue(license.id, body), 400, 'VALIDATION_FAILED');
    }
    const other = await world.createApplication();
    const foreign = requestOf(hwid, other);
    expectFailure(await issue(license.id, { deviceRequest: foreign }), 403, 'APP_MISMATCH');
    expectFailure(await issue(randomUUID(), { deviceRequest: requestOf() }), 404, 'LICENSE_NOT_FOUND');
    expectFailure(await issue('abc', { deviceRequest: requestOf() }), 404, 'LICENSE_NOT_FOUND');
    expect(await storedLicense(server, license.id)).toMatchObject({ status: 'unused' });

    await insertBan(server, application.id, 'hwid', 'banned device');
    const banned = requestOf('banned device');
    expectFailure(await issue(license.id, { deviceRequest: banned }), 403, 'HWID_BANNED');
    expect(await storedLicense(server, license.id)).toMatchObject({ status: 'unused' });
    await done(post(`/licenses/${license.id}/ban`));
    expectFailure(await issue(license.id, { deviceRequest: requestOf() }), 403, 'BANNED');
  });

  test("is not issued for another developer's license", async () => {
    const stranger = await createWorld(server);
    const license = await application.mintOne();
    const answer = await issue(license.id, { deviceRequest: requestOf() }, stranger.client);
    expectFailure(answer, 404, 'LICENSE_NOT_FOUND');
    expectFailure(
      await issue(license.id, { deviceRequest: requestOf() }, new ApiClient(server.baseUrl)),
      401,
      'UNAUTHENTICATED',
    );
    expect(await storedLicense(server, license.id)).toMatchObject({ status: 'unused' });
  });
});

describe('without the lock on devices', () => {
  const unlocked = forTest(() => leasing({ hwidLockEnabled: false }));
  const offline = (id: string, device: string) => {
    const nonce = randomBytes(16).toString('base64url');
    const request = { appId: unlocked.id, device: deviceHash(unlocked.id, device), nonce };
    return post(`/licenses/${id}/offline-lease`, { deviceRequest: deviceRequestText(request) });
  };

  test('a banned device gets no offline lease of a license that was bound to another, and no other is refused', async () => {
    await unlocked.settings({ hwidLockEnabled: true });
    const license = await unlocked.mintOne();
    await ask('validate', { licenseKey: license.licenseKey, hwid: 'good' }, unlocked);
    await unlocked.settings({ hwidLockEnabled: false });
    await insertBan(server, unlocked.id, 'hwid', 'bad');
    expectFailure(await offline(license.id, 'bad'), 403, 'HWID_BANNED');
    await insertBan(server, unlocked.id, 'hwid', 'good');
    expectFailure(await offline(license.id, 'good'), 403, 'HWID_BANNED');
    expect((await offline(license.id, 'third')).status).toBe(201);
    const [logged] = await storedLog(server, unlocked.id, 'lease_issued');
    expect(logged).toMatchObject({ hwid: null });
  });

  test('a license has leases on 1,000 devices at most, and each of these renews its own', async () => {
    const license = await unlocked.mintOne();
    const { licenseKey } = license;
    const first = await ask('validate', { licenseKey, hwid: 'first', lease: true }, unlocked);
    expect(first).toHaveProperty('lease');
    await sql(
      server,
      `INSERT INTO leases
         (application_id, license_id, device_hash, seq, rev, jti, issued_at, expires_at, logged_at)
       SELECT application_id, license_id, left(repeat(md5(number::text), 2), 43), 1, 0, jti, issued_at, expires_at, logged_at
       FROM leases, generate_series(1, 999) AS number WHERE license_id = $1`,
      [license.id],
    );
    const next = await ask('validate', { licenseKey, hwid: 'next', lease: true }, unlocked);
    expect(next).toMatchObject({ code: 'OK' });
    expect(next).not.toHaveProperty('lease');
    const refused = await ask('lease', { licenseKey, hwid: 'next' }, unlocked);
    expect(refused).toMatchObject({ code: 'LEASES_DISABLED' });
    expectFailure(await offline(license.id, 'next'), 409, 'LIMIT_REACHED');
    expect(await ask('lease', { licenseKey, hwid: 'first' }, unlocked)).toMatchObject({ code: 'OK' });
    await done(post(`/licenses/${license.id}/ban`));
  });
});

describe('at the same time', () => {
  const times = <Value>(count: number, make: (index: number) => Promise<Value>) =>
    Promise.all(Array.from({ length: count }, (_, index) => make(index)));

  test('many that ask for leases of a license do not keep it from being banned', async () => {
    const license = await application.mintOne();
    const { licenseKey } = license;
    await ask('validate', { licenseKey, hwid });
    let isBanned = false;
    const asking = times(24, async () => {
      for (let count = 0; count < 200 && !isBanned; count += 1) await ask('lease', { licenseKey, hwid });
    });
    await done(post(`/licenses/${license.id}/ban`));
    isBanned = true;
    await asking;
    expect(await ask('lease', { licenseKey, hwid })).toMatchObject({ code: 'BANNED' });
  });

  test('leases of one device have different sequence numbers', async () => {
    const license = await application.mintOne();
    await leased(license);
    const leases = await times(20, () => leased(license));
    expect(new Set(leases.map(({ seq }) => seq)).size).toBe(20);
    const [row] = await sql<{ seq: string }>(server, 'SELECT seq FROM leases WHERE license_id = $1', [
      license.id,
    ]);
    expect(Number(row?.seq)).toBe(Math.max(...leases.map(({ seq }) => seq)));
  });

  test('a lease is either revoked by a ban, or not issued', async () => {
    const { licenseKey, id } = await application.mintOne();
    await ask('validate', { licenseKey, hwid });
    for (const scope of ['license', 'hwid']) {
      const [answers] = await Promise.all([
        times(12, () => ask('lease', { licenseKey, hwid })),
        pause(5).then(() => post(`/licenses/${id}/ban`, { scope })),
      ]);
      const leases = answers.flatMap((answer) => ('lease' in answer ? [accepted(answer.lease)] : []));
      const list = await revocations();
      for (const lease of leases) expect(revokes(list, lease), scope).toBe(true);
    }
  });

  test("the ban of a device revokes each of the device's leases of other licenses, or prevents it", async () => {
    const [banned, ...others] = await application.mint({ amount: 9 });
    if (banned === undefined) return expect.fail();
    await leased(banned);
    const answers = await Promise.all([
      ...others.slice(0, 4).map(({ licenseKey }) => ask('lease', { licenseKey, hwid })),
      post(`/licenses/${banned.id}/ban`, { scope: 'hwid' }),
      ...others.slice(4).map(({ licenseKey }) => ask('lease', { licenseKey, hwid })),
    ]);
    const list = await revocations();
    for (const answer of answers) {
      if ('lease' in answer) expect(revokes(list, accepted(answer.lease))).toBe(true);
    }
  });

  test('every ban raises the counter', async () => {
    const licenses = await application.mint({ amount: 8 });
    await times(licenses.length, (index) => leased(licenses[index] ?? expect.fail(), `device ${index}`));
    await times(licenses.length, (index) => done(post(`/licenses/${licenses[index]?.id}/ban`)));
    const { revoked, rev } = await revocations();
    const values = Object.values(revoked);
    expect(new Set(values).size).toBe(licenses.length);
    expect(Math.max(...values)).toBe(rev);
  });
});
