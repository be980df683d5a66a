import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { insertBan, sql, storedLicense, storedLog } from '../setup/stored.ts';
import { forTest, useWorld } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import {
  blindAnswer,
  doneAnswer,
  expectFailure,
  expectIssue,
  expectSuccess,
  licenseAnswer,
  licensesAnswer,
  missingId,
  noLimits,
  usersAnswer,
} from './support.ts';

const { server, world } = useWorld({ env: noLimits });
const application = forTest(() => world.createApplication());

const prisma = () => server.deps.services.database.prisma;
const post = (path: string, body?: unknown) => world.client.post(`/api/v1${path}`, body);
const ban = async (id: string, body?: unknown) => {
  const answer = await post(`/licenses/${id}/ban`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
};
const listed = async () =>
  expectSuccess(
    await world.client.get(`/api/v1/apps/${application.id}/licenses?limit=200`),
    200,
    licensesAnswer,
  ).licenses;

/** Mints a license and uses it once. */
async function used(fields: { durationSeconds?: number; subscriptionTier?: number } = {}, hwid?: string) {
  const license = await application.mintOne(fields);
  const session = await openSession(server, application);
  const answer = await session.ask(validatePath, { licenseKey: license.licenseKey, hwid });
  expect(answer).toMatchObject({ code: 'OK' });
  // The address is written asynchronously.
  await server.deps.services.securityLog.flush();
  return { ...license, session };
}

describe('extending', () => {
  const extend = (seconds: unknown, id = application.id) => post(`/apps/${id}/licenses/extend`, { seconds });

  test('adds time to active licenses with an expiry and to no others, and counts them', async () => {
    const first = await used({ durationSeconds: 100 });
    const second = await used({ durationSeconds: 5_000 }, 'device');
    const untouched = {
      unused: await application.mintOne({ durationSeconds: 100 }),
      endless: await used({ durationSeconds: 0 }),
      banned: await used({ durationSeconds: 100 }),
      ended: await used({ durationSeconds: 10 }),
    };
    await ban(untouched.banned.id);
    server.clock.step(11);
    const others = Object.values(untouched).map(({ id }) => id);
    const before = await Promise.all(others.map((id) => storedLicense(server, id)));
    const [firstBefore, secondBefore] = [
      await storedLicense(server, first.id),
      await storedLicense(server, second.id),
    ];

    const answer = await extend(3_600);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, extended: 2 });

    for (const [id, earlier] of [
      [first.id, firstBefore],
      [second.id, secondBefore],
    ] as const) {
      const expiresAt = new Date(Number(earlier?.expiresAt) + 3_600_000);
      expect(await storedLicense(server, id)).toEqual({ ...earlier, expiresAt });
    }
    expect(await Promise.all(others.map((id) => storedLicense(server, id)))).toEqual(before);
  });

  test('does not affect licenses of other applications', async () => {
    const license = await used({ durationSeconds: 100 });
    const before = await storedLicense(server, license.id);
    const other = await world.createApplication();
    expect((await extend(60, other.id)).body).toEqual({ success: true, extended: 0 });
    expect(await storedLicense(server, license.id)).toEqual(before);
  });

  test('does not revive a license that expires at this moment', async () => {
    const license = await used({ durationSeconds: 100 });
    const { expiresAt } = (await storedLicense(server, license.id)) ?? {};
    server.clock.hold();
    try {
      server.clock.step((Number(expiresAt) - server.clock.now()) / 1000);
      expect((await extend(60)).body).toMatchObject({ extended: 0 });
      server.clock.step(-0.001);
      expect((await extend(60)).body).toMatchObject({ extended: 1 });
    } finally {
      server.clock.release();
    }
  });

  test('is logged with its seconds and count', async () => {
    await used({ durationSeconds: 100 });
    await extend(60);
    expect(await storedLog(server, application.id, 'licenses_extended')).toMatchObject([
      { ip: world.client.ip, metadata: { seconds: 60, extended: 1 } },
    ]);
  });

  test.each([0, -1, 1.5, '60', null, undefined, 320_000_000, 2 ** 53])(
    'refuses %j seconds',
    async (seconds) => {
      const license = await used({ durationSeconds: 100 });
      const before = await storedLicense(server, license.id);
      expectIssue(await extend(seconds), 'seconds');
      expect(await storedLicense(server, license.id)).toEqual(before);
    },
  );

  test.each([1, 10 * 365 * 86_400, 3653 * 86_400])(
    'accepts %i seconds: up to about ten years',
    async (seconds) => {
      const license = await used({ durationSeconds: 100 });
      const before = await storedLicense(server, license.id);
      expect((await extend(seconds)).body).toEqual({ success: true, extended: 1 });
      expect(Number((await storedLicense(server, license.id))?.expiresAt)).toBe(
        Number(before?.expiresAt) + seconds * 1000,
      );
    },
  );

  const endAt = (id: string, expiresAt: string) =>
    sql(server, 'UPDATE licenses SET expires_at = $2 WHERE id = $1', [id, expiresAt]);
  const endsOf = (licenses: readonly { id: string }[]) =>
    Promise.all(licenses.map(async ({ id }) => (await storedLicense(server, id))?.expiresAt?.toISOString()));

  test('beyond the year 9999 is refused completely, but not up to its last second', async () => {
    const licenses = [await used({ durationSeconds: 5_000 }), await used({ durationSeconds: 5_000 })];
    const [late = { id: '' }] = licenses;
    await endAt(late.id, '9999-12-31T23:59:29Z');
    const before = await endsOf(licenses);
    const refused = await extend(31);
    expectIssue(refused, 'seconds');
    expect(refused.body).toMatchObject({ error: expect.stringContaining('9999-12-31T23:59:59Z') });
    expect(await endsOf(licenses)).toEqual(before);
    expect(await storedLog(server, application.id, 'licenses_extended')).toEqual([]);
    expect((await extend(30)).body).toEqual({ success: true, extended: 2 });
    const [end] = await endsOf(licenses);
    expect(end).toBe('9999-12-31T23:59:59.000Z');
    // It already has the maximum, so it does not prevent extensions of the others.
    expect((await extend(3653 * 86_400)).body).toEqual({ success: true, extended: 1 });
    expect((await endsOf(licenses))[0]).toBe(end);
  });

  test('concurrently never passes the year 9999, and each extension is all or nothing', async () => {
    const license = await used({ durationSeconds: 5_000 });
    await endAt(license.id, '9999-12-31T23:58:01Z');
    const answers = await Promise.all(Array.from({ length: 20 }, () => extend(17)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      ...Array(6).fill(200),
      ...Array(14).fill(400),
    ]);
    expect(await endsOf([license])).toEqual(['9999-12-31T23:59:43.000Z']);
  });

  test('an application of another developer gets the same response as a missing one', async () => {
    await used({ durationSeconds: 100 });
    const { client } = await createWorld(server);
    const ask = (id: string) => client.post(`/api/v1/apps/${id}/licenses/extend`, { seconds: 60 });
    const foreign = await ask(application.id);
    expectFailure(foreign, 404, 'APP_NOT_FOUND');
    expect(foreign.body).toEqual((await ask(missingId)).body);
    expectFailure(await ask('nothing'), 404, 'APP_NOT_FOUND');
    expect(await storedLog(server, application.id, 'licenses_extended')).toEqual([]);
  });
});

describe.each(['POST', 'PATCH'])('setting a tier by %s', (method) => {
  const setTier = (id: string, body: unknown) =>
    world.client.send(method, `/api/v1/licenses/${id}/tier`, body);

  test('returns, stores and logs it', async () => {
    const { id } = await application.mintOne({ subscriptionTier: 1 });
    const answer = await setTier(id, { subscriptionTier: 9 });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, subscriptionTier: 9 });
    expect((await listed())[0]).toMatchObject({ id, subscriptionTier: 9, status: 'unused' });
    expect(await storedLog(server, application.id, 'license_tier_changed')).toMatchObject([
      { licenseId: id, metadata: { from: 1, to: 9 } },
    ]);
  });

  test('can lower it in any state of the license', async () => {
    const license = await used({ subscriptionTier: 9 });
    expect((await setTier(license.id, { subscriptionTier: 0 })).body).toMatchObject({ subscriptionTier: 0 });
    await ban(license.id);
    expect((await setTier(license.id, { subscriptionTier: 2_147_483_647 })).status).toBe(200);
    expect(await storedLicense(server, license.id)).toMatchObject({ status: 'banned' });
  });

  test.each([-1, 1.5, '1', null, undefined, 2_147_483_648, true, [1]])(
    'refuses %j',
    async (subscriptionTier) => {
      const { id } = await application.mintOne({ subscriptionTier: 4 });
      expectIssue(await setTier(id, { subscriptionTier }), 'subscriptionTier');
      expect((await listed())[0]).toMatchObject({ subscriptionTier: 4 });
    },
  );

  test.each([missingId, 'nothing'])('of %s is not found', async (id) => {
    expectFailure(await setTier(id, { subscriptionTier: 1 }), 404, 'LICENSE_NOT_FOUND');
  });
});

describe("resetting a license's device", () => {
  const reset = (id: string) => post(`/licenses/${id}/reset-hwid`);

  test('clears the binding, keeps the rest, and logs the previous device', async () => {
    const license = await used({ durationSeconds: 3_600 }, 'old');
    const before = await storedLicense(server, license.id);
    const answer = expectSuccess(await reset(license.id), 200, licenseAnswer);
    expect(answer.license).toMatchObject({ id: license.id, hwid: null, status: 'active' });
    expect(await storedLicense(server, license.id)).toEqual({ ...before, hwid: null });
    expect(await storedLog(server, application.id, 'hwid_reset')).toMatchObject([
      { licenseId: license.id, ip: world.client.ip, hwid: 'old', metadata: { previousHwid: 'old' } },
    ]);
    const ask = (hwid: string) => license.session.ask(validatePath, { licenseKey: license.licenseKey, hwid });
    expect(await ask('new')).toMatchObject({ code: 'OK' });
    expect(await ask('old')).toMatchObject({ code: 'HWID_MISMATCH' });
  });

  test('without a device is HWID_NOT_SET', async () => {
    expectFailure(await reset((await application.mintOne()).id), 400, 'HWID_NOT_SET');
    const license = await used({}, 'device');
    expectSuccess(await reset(license.id), 200, licenseAnswer);
    expectFailure(await reset(license.id), 400, 'HWID_NOT_SET');
    expect(await storedLog(server, application.id, 'hwid_reset')).toHaveLength(1);
  });

  test('of a banned license is LICENSE_BANNED, bound or not', async () => {
    const bound = await used({}, 'device');
    await ban(bound.id);
    expectFailure(await reset(bound.id), 400, 'LICENSE_BANNED');
    expect(await storedLicense(server, bound.id)).toMatchObject({ hwid: 'device' });
    const unbound = await application.mintOne();
    await ban(unbound.id);
    expectFailure(await reset(unbound.id), 400, 'LICENSE_BANNED');
  });

  test('works for an expired license, which stays expired', async () => {
    const license = await used({ durationSeconds: 10 }, 'device');
    server.clock.step(11);
    expect(expectSuccess(await reset(license.id), 200, licenseAnswer).license).toMatchObject({
      status: 'expired',
      hwid: null,
    });
  });

  test('keeps bans of the device', async () => {
    const license = await used({}, 'device');
    await insertBan(server, application.id, 'hwid', 'device');
    expectSuccess(await reset(license.id), 200, licenseAnswer);
    expect(await prisma().ban.count({ where: { applicationId: application.id } })).toBe(1);
  });

  test.each([missingId, 'nothing'])('of %s is not found', async (id) => {
    expectFailure(await reset(id), 404, 'LICENSE_NOT_FOUND');
  });
});

describe('deleting a license', () => {
  const remove = (id: string) => world.client.delete(`/api/v1/licenses/${id}`);

  test('keeps its users without a license, and its bans without a source', async () => {
    const license = await used({ subscriptionTier: 3 }, 'device');
    const other = await used({}, 'other device');
    for (const [username, key] of [
      ['first', license],
      ['second', license],
      ['third', other],
    ] as const) {
      const body = { username, password: 'a user password', licenseKey: key.licenseKey };
      expect((await post(`/apps/${application.id}/users`, body)).status).toBe(201);
    }
    await ban(license.id, { scope: 'hwid_and_ip' });
    await ban(other.id, { scope: 'hwid' });
    expectSuccess(await remove(license.id), 200, doneAnswer);

    const { users } = expectSuccess(
      await world.client.get(`/api/v1/apps/${application.id}/users`),
      200,
      usersAnswer,
    );
    expect(users).toMatchObject([
      { username: 'third', licenseId: other.id, subscriptionTier: 0 },
      { username: 'second', licenseId: null, subscriptionTier: null },
      { username: 'first', licenseId: null, subscriptionTier: null },
    ]);
    const bans = await prisma().ban.findMany({
      where: { applicationId: application.id },
      orderBy: { id: 'asc' },
    });
    expect(bans.map((row) => [row.banType, row.sourceLicenseId])).toEqual([
      ['hwid', null],
      ['ip', null],
      ['hwid', other.id],
    ]);
    expect((await listed()).map(({ id }) => id)).toEqual([other.id]);
    expect(await storedLog(server, application.id, 'license_deleted')).toMatchObject([
      { licenseId: license.id, metadata: { keyPrefix: license.keyPrefix } },
    ]);
    expect(await storedLog(server, application.id, 'license_validated'), 'the log stays').toHaveLength(2);
    expectFailure(await remove(license.id), 404, 'LICENSE_NOT_FOUND');
  });

  test.each([missingId, 'nothing'])('%s is not found', async (id) => {
    expectFailure(await remove(id), 404, 'LICENSE_NOT_FOUND');
  });
});

describe('minting blind', () => {
  const sha256Hex = (key: string) => createHash('sha256').update(key).digest('hex');
  const newKey = () => randomBytes(12).toString('hex').toUpperCase();
  const blindKey = (key: string, fields: Record<string, unknown> = {}) => ({
    licenseKeyHash: sha256Hex(key),
    licenseKeyPrefix: key.slice(0, 5),
    durationSeconds: 3_600,
    ...fields,
  });
  const mint = (keys: unknown, fields: Record<string, unknown> = {}) =>
    post('/licenses/create-blind', { applicationId: application.id, keys, ...fields });
  const setMode = async (mode: string) => {
    const answer = await post('/account/mode', { mode, password: world.developer.password });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  };
  const count = () => prisma().license.count({ where: { applicationId: application.id } });

  test.each(['default', 'private'])('works in %s mode, and the key can be validated', async (mode) => {
    await setMode(mode);
    try {
      const plaintext = newKey();
      const { keys } = expectSuccess(await mint([blindKey(plaintext)]), 201, blindAnswer);
      expect(keys).toEqual([
        { id: keys[0]?.id, keyPrefix: plaintext.slice(0, 5), durationSeconds: 3_600, subscriptionTier: 0 },
      ]);
      const session = await openSession(server, application);
      expect(await session.ask(validatePath, { licenseKey: plaintext, hwid: 'device' })).toMatchObject({
        code: 'OK',
        subscriptionTier: 0,
      });
      expect(await storedLicense(server, keys[0]?.id ?? '')).toMatchObject({
        status: 'active',
        hwid: 'device',
      });
    } finally {
      await setMode('default');
    }
  });

  test('is the only way in private mode: the server mints no keys', async () => {
    await setMode('private');
    try {
      const body = { applicationId: application.id, amount: 1, durationSeconds: 0 };
      expectFailure(await post('/licenses/create', body), 409, 'PRIVATE_MODE');
      expect(await count()).toBe(0);
    } finally {
      await setMode('default');
    }
    await application.mintOne();
  });

  test("gives each key its own tier or the batch's", async () => {
    const keys = [
      blindKey(newKey()),
      blindKey(newKey(), { subscriptionTier: 7, durationSeconds: 0 }),
      blindKey(newKey(), { subscriptionTier: 0 }),
    ];
    const answer = expectSuccess(await mint(keys, { subscriptionTier: 3 }), 201, blindAnswer);
    expect(
      answer.keys.map(({ subscriptionTier, durationSeconds }) => [subscriptionTier, durationSeconds]),
    ).toEqual([
      [3, 3_600],
      [7, 0],
      [0, 3_600],
    ]);
  });

  test('returns the encrypted note unchanged', async () => {
    const noteCiphertextB64 = randomBytes(60).toString('base64');
    await mint([blindKey(newKey(), { noteCiphertextB64 }), blindKey(newKey())]);
    expect((await listed()).map((row) => [row.note, row.noteCiphertextB64]).sort()).toEqual(
      [
        [null, noteCiphertextB64],
        [null, null],
      ].sort(),
    );
  });

  test('treats a hash in capitals as the same', async () => {
    const key = newKey();
    const hash = sha256Hex(key).toUpperCase();
    expect((await mint([{ ...blindKey(key), licenseKeyHash: hash }])).status).toBe(201);
    expectFailure(await mint([blindKey(key)]), 409, 'KEY_EXISTS');
  });

  test('refuses a prefix that is the whole key', async () => {
    const key = newKey();
    const answer = await mint([blindKey(key, { licenseKeyPrefix: key })]);
    const { issues } = expectFailure(answer, 400, 'VALIDATION_FAILED');
    expect(issues?.map(({ path }) => path)).toEqual([['keys', 0, 'licenseKeyPrefix']]);
  });

  test('stores all or none: an existing key refuses the batch and is named in the error', async () => {
    const known = newKey();
    expectSuccess(await mint([blindKey(known)]), 201, blindAnswer);
    const answer = await mint([blindKey(newKey()), blindKey(known), blindKey(newKey())]);
    const { issues } = expectFailure(answer, 409, 'KEY_EXISTS');
    expect(issues?.map(({ path }) => path)).toEqual([['keys', 1, 'licenseKeyHash']]);
    expect(await count()).toBe(1);
    expect(await storedLog(server, application.id, 'licenses_created')).toHaveLength(1);
  });

  test('refuses a key that is twice in one batch, or was minted by the server', async () => {
    const twice = newKey();
    expectFailure(await mint([blindKey(twice), blindKey(twice)]), 409, 'KEY_EXISTS');
    expect(await count()).toBe(0);
    const { licenseKey } = await application.mintOne();
    expectFailure(await mint([blindKey(licenseKey)]), 409, 'KEY_EXISTS');
    expect(await count()).toBe(1);
  });

  test('a key that was validated before it existed is found at once', async () => {
    const key = newKey();
    const session = await openSession(server, application);
    const ask = () => session.ask(validatePath, { licenseKey: key });
    expect(await ask()).toMatchObject({ code: 'LICENSE_NOT_FOUND' });
    expectSuccess(await mint([blindKey(key)]), 201, blindAnswer);
    expect(await ask()).toMatchObject({ code: 'OK' });
  });

  test('stores ten thousand in one request', async () => {
    const keys = Array.from({ length: 10_000 }, () => blindKey(newKey()));
    expect(expectSuccess(await mint(keys), 201, blindAnswer).keys).toHaveLength(10_000);
    expect(await count()).toBe(10_000);
  });

  test('is logged by count, and the database contains no key', async () => {
    const key = newKey();
    await mint([blindKey(key)]);
    expect(await storedLog(server, application.id, 'licenses_created')).toMatchObject([
      { metadata: { amount: 1, blind: true } },
    ]);
    expect(JSON.stringify(await sql(server, 'SELECT licenses::text FROM licenses'))).not.toContain(key);
  });

  test.each<[string, Record<string, unknown>]>([
    ['licenseKeyHash', { licenseKeyHash: 'a'.repeat(63) }],
    ['licenseKeyHash', { licenseKeyHash: 'a'.repeat(65) }],
    ['licenseKeyHash', { licenseKeyHash: 'g'.repeat(64) }],
    ['licenseKeyHash', { licenseKeyHash: `${'a'.repeat(64)}\n` }],
    ['licenseKeyHash', { licenseKeyHash: null }],
    ['licenseKeyPrefix', { licenseKeyPrefix: '' }],
    ['licenseKeyPrefix', { licenseKeyPrefix: 'nul\u0000' }],
    ['licenseKeyPrefix', { licenseKeyPrefix: 'x'.repeat(65) }],
    ['durationSeconds', { durationSeconds: -1 }],
    ['durationSeconds', { durationSeconds: 0.5 }],
    ['durationSeconds', { durationSeconds: undefined }],
    ['noteCiphertextB64', { noteCiphertextB64: 'not base64!' }],
    ['noteCiphertextB64', { noteCiphertextB64: 'YQ' }],
    ['subscriptionTier', { subscriptionTier: -1 }],
  ])('refuses the %s in %j', async (field, fields) => {
    const { issues = [] } = expectFailure(
      await mint([blindKey(newKey()), blindKey(newKey(), fields)]),
      400,
      'VALIDATION_FAILED',
    );
    expect(issues.map(({ path }) => path)).toContainEqual(['keys', 1, field]);
    expect(await count()).toBe(0);
  });

  test.each<[string, Record<string, unknown>]>([
    ['keys', { keys: [] }],
    ['keys', { keys: {} }],
    ['keys', { keys: Array.from({ length: 10_001 }, (_, index) => blindKey(`key ${index}`)) }],
    ['applicationId', { applicationId: 'none' }],
    ['subscriptionTier', { subscriptionTier: 1.5 }],
    ['mask', { mask: 'XXX' }],
  ])('refuses invalid %s', async (field, fields) => {
    expectIssue(await mint([blindKey(newKey())], fields), field);
    expect(await count()).toBe(0);
  });

  test('for an application of another developer is not found', async () => {
    const { client } = await createWorld(server);
    const ask = (applicationId: string) =>
      client.post('/api/v1/licenses/create-blind', { applicationId, keys: [blindKey(newKey())] });
    const foreign = await ask(application.id);
    expectFailure(foreign, 404, 'APP_NOT_FOUND');
    expect(foreign.body).toEqual((await ask(missingId)).body);
    expect(await count()).toBe(0);
  });
});

test('a license of another developer gets the same response as a missing one', async () => {
  const license = await used({ durationSeconds: 100 }, 'device');
  const before = await storedLicense(server, license.id);
  const { client } = await createWorld(server);
  const ask = (id: string) =>
    Promise.all([
      client.post(`/api/v1/licenses/${id}/tier`, { subscriptionTier: 1 }),
      client.patch(`/api/v1/licenses/${id}/tier`, { subscriptionTier: 1 }),
      client.post(`/api/v1/licenses/${id}/reset-hwid`),
      client.delete(`/api/v1/licenses/${id}`),
    ]);
  const [foreign, missing] = await Promise.all([ask(license.id), ask(missingId)]);
  for (const answer of foreign) expectFailure(answer, 404, 'LICENSE_NOT_FOUND');
  expect(foreign.map(({ body }) => body)).toEqual(missing.map(({ body }) => body));
  expect(await storedLicense(server, license.id)).toEqual(before);
});
