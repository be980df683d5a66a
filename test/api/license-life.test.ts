import { createHash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sha256 } from '../../src/crypto/hash.ts';
import { applyFirstUse } from '../../src/services/license/apply-first-use.ts';
import { noLabels } from '../../src/services/license/client-facts.ts';
import { createLicenseLoader } from '../../src/services/license/snapshot.ts';
import { type ApiAnswer, ApiClient } from '../setup/api-client.ts';
import { createCallClient } from '../setup/call-client.ts';
import { GraphqlClient } from '../setup/graphql-client.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { databaseState, insertBan, sql, storedLog } from '../setup/stored.ts';
import { forTest, useWorld } from '../setup/use-world.ts';
import { createWorld, type SeededLicense } from '../setup/world.ts';
import {
  expectFailure,
  expectIssue,
  expectSuccess,
  licenseAnswer,
  license as licenseShape,
  metricsAnswer,
  noLimits,
} from './support.ts';

const { server, world } = useWorld({ env: noLimits });
const application = forTest(() => world.createApplication());
beforeEach(() => server.clock.hold());
afterEach(() => server.clock.release());

const day = 86_400;
const graphql = () => new GraphqlClient(world.client);
const post = (id: string, verb: string, body?: unknown) =>
  world.client.post(`/api/v1/licenses/${id}/${verb}`, body);
const patch = (id: string, body: unknown) => world.client.patch(`/api/v1/licenses/${id}`, body);
const licenseOf = (answer: ApiAnswer) => expectSuccess(answer, 200, licenseAnswer).license;
const get = async (id: string) => licenseOf(await world.client.get(`/api/v1/licenses/${id}`));
const now = () => new Date(server.clock.now());
const inSeconds = (seconds: number) => new Date(server.clock.now() + seconds * 1000).toISOString();
const session = (): Promise<SealedSession> => openSession(server, application);
const validate = async ({ licenseKey }: { licenseKey: string }, hwid?: string) =>
  (await session()).ask(validatePath, { licenseKey, hwid });

/** A license that was used just now. */
async function used(fields: { durationSeconds?: number } = {}, hwid?: string): Promise<SeededLicense> {
  const license = await application.mintOne({ durationSeconds: 100, ...fields });
  expect(await validate(license, hwid)).toMatchObject({ code: 'OK' });
  // The address is written asynchronously.
  await server.deps.services.securityLog.flush();
  return license;
}

/** The whole row of a license. */
async function rowOf(id: string): Promise<Record<string, unknown>> {
  // The address is written asynchronously.
  await server.deps.services.securityLog.flush();
  const [found] = await sql<{ row: Record<string, unknown> }>(
    server,
    'SELECT to_jsonb(licenses) AS row FROM licenses WHERE id = $1',
    [id],
  );
  return found?.row ?? {};
}

/** What two licenses have in common that the same has happened to: times are those of each. */
const shapeOf = ({ id: _, key_hash: __, key_prefix: ___, last_ip: ____, ...row }: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, /_at$/.test(name) && value !== null ? 'set' : value]),
  );

const countLog = () =>
  sql<{ count: number }>(server, 'SELECT count(*)::int FROM security_log WHERE application_id = $1', [
    application.id,
  ]);

/** How a license comes into each state. Each lasts a while, so that nothing changes it but the action. */
const states = {
  unused: () => application.mintOne({ durationSeconds: 100 }),
  active: () => used(),
  expired: async () => {
    const license = await used();
    server.clock.step(100);
    return license;
  },
  'in grace': async () => {
    const license = await used();
    await patch(license.id, { graceSeconds: 1_000 });
    server.clock.step(100);
    return license;
  },
  suspended: async () => {
    const license = await used();
    await post(license.id, 'suspend', { reason: 'unpaid' });
    return license;
  },
  'suspended with its clock stopped': async () => {
    const license = await used();
    await post(license.id, 'suspend', { stopClock: true });
    server.clock.step(1_000);
    return license;
  },
  banned: async () => {
    const license = await used();
    await post(license.id, 'ban');
    return license;
  },
  'banned and suspended': async () => {
    const license = await used();
    await post(license.id, 'suspend', { stopClock: true });
    await post(license.id, 'ban');
    return license;
  },
} as const satisfies Record<string, () => Promise<SeededLicense>>;
type State = keyof typeof states;

interface Action {
  readonly verb: string;
  readonly method?: 'PATCH';
  readonly body?: Record<string, unknown>;
  readonly mutation: string;
  /** The status that is shown after the action, by state; where there is none, it is refused. */
  readonly allowed: Partial<Record<State, string>>;
}

const expiresIn5000 = () => ({ expiresAt: inSeconds(5_000) });
const actions: Readonly<Record<string, Action>> = {
  ban: {
    verb: 'ban',
    mutation: 'banLicense',
    allowed: Object.fromEntries(Object.keys(states).map((state) => [state, 'banned'])),
  },
  unban: {
    verb: 'unban',
    mutation: 'unbanLicense',
    allowed: { banned: 'active', 'banned and suspended': 'suspended' },
  },
  suspend: {
    verb: 'suspend',
    body: { reason: 'unpaid', stopClock: true },
    mutation: 'suspendLicense',
    allowed: { unused: 'suspended', active: 'suspended', expired: 'suspended', 'in grace': 'suspended' },
  },
  reinstate: {
    verb: 'reinstate',
    mutation: 'reinstateLicense',
    allowed: { suspended: 'active', 'suspended with its clock stopped': 'active' },
  },
  renew: {
    verb: 'renew',
    body: { seconds: 50, basis: 'from_now_if_expired' },
    mutation: 'renewLicense',
    allowed: {
      unused: 'unused',
      active: 'active',
      expired: 'active',
      'in grace': 'active',
      suspended: 'suspended',
      'suspended with its clock stopped': 'suspended',
    },
  },
  'a new expiry': {
    verb: '',
    method: 'PATCH',
    mutation: 'updateLicense',
    allowed: {
      active: 'active',
      expired: 'active',
      'in grace': 'active',
      suspended: 'suspended',
      'suspended with its clock stopped': 'suspended',
      banned: 'banned',
      'banned and suspended': 'banned',
    },
  },
  'a new key': {
    verb: 'rotate-key',
    body: { overlapSeconds: 60 },
    mutation: 'rotateLicenseKey',
    allowed: {
      unused: 'unused',
      active: 'active',
      expired: 'expired',
      'in grace': 'expired',
      suspended: 'suspended',
      'suspended with its clock stopped': 'suspended',
      banned: 'banned',
      'banned and suspended': 'banned',
    },
  },
};

const inputTypeOf = (mutation: string) => `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`;

const askGraphql = ({ mutation }: Action, id: string, body: object) =>
  graphql().ask(
    `mutation ($input: ${inputTypeOf(mutation)}!) { ${mutation}(input: $input) { license { id status } } }`,
    { input: { id, ...body } },
  );

describe('every transition from every state', () => {
  const cases = Object.entries(states).flatMap(([state, make]) =>
    Object.entries(actions).map(([name, action]) => ({ state: state as State, make, name, action })),
  );

  test.each(cases)('$name of a license that is $state', async ({ state, make, action }) => {
    const expected = action.allowed[state];
    const [one, two] = [await make(), await make()];
    const before = [await rowOf(one.id), await rowOf(two.id)];
    const logged = await countLog();
    const body = action.method === 'PATCH' ? expiresIn5000() : action.body;
    const rest = await (action.method === 'PATCH' ? patch(one.id, body) : post(one.id, action.verb, body));
    const graphqlAnswer = await askGraphql(action, two.id, body ?? {});

    if (expected === undefined) {
      expectFailure(rest, 409, 'INVALID_TRANSITION');
      expect(graphqlAnswer.codes).toEqual(['INVALID_TRANSITION']);
      expect([await rowOf(one.id), await rowOf(two.id)]).toEqual(before);
      expect(await countLog()).toEqual(logged);
      return;
    }
    expect(graphqlAnswer.errors).toEqual([]);
    expect(rest.body).toMatchObject({ success: true, license: { id: one.id, status: expected } });
    expect(graphqlAnswer.data).toEqual({ [action.mutation]: { license: { id: two.id, status: expected } } });
    expect(shapeOf(await rowOf(two.id))).toEqual(shapeOf(await rowOf(one.id)));
    expect((await get(one.id)).status).toBe(expected);
  });
});

describe('grace', () => {
  test.each([
    ['v1', (license: SeededLicense) => validate(license, 'device')],
    [
      'v2',
      ({ licenseKey }: SeededLicense) =>
        createCallClient(server, application).ask('validate', { licenseKey, hwid: 'device' }),
    ],
  ] as const)('begins at the expiry and ends after it to the millisecond, over %s', async (_name, ask) => {
    const license = await used({ durationSeconds: 1_000 }, 'device');
    const expiresAt = inSeconds(1_000);
    const graceEndsAt = inSeconds(1_060);
    await patch(license.id, { graceSeconds: 60 });
    server.clock.step(999.999);
    const plain = await ask(license);
    expect(plain).toMatchObject({ code: 'OK', status: 'active', expiresAt });
    expect(plain).not.toHaveProperty('graceEndsAt');
    expect(await get(license.id)).toMatchObject({ status: 'active', graceEndsAt: null });
    server.clock.step(0.001);
    expect(await ask(license)).toMatchObject({ code: 'OK', status: 'active', expiresAt, graceEndsAt });
    expect(await get(license.id)).toMatchObject({ status: 'expired', graceEndsAt });
    server.clock.step(59.999);
    expect(await ask(license)).toMatchObject({ code: 'OK', graceEndsAt });
    server.clock.step(0.001);
    expect(await ask(license)).toMatchObject({ success: false, code: 'EXPIRED' });
    expect(await get(license.id)).toMatchObject({ status: 'expired', graceEndsAt: null });
  });
});

describe('suspending', () => {
  test('refuses the license with its own code, also one that was cached, until it is reinstated', async () => {
    const license = await used({}, 'device');
    const suspended = licenseOf(await post(license.id, 'suspend', { reason: 'unpaid' }));
    expect(suspended).toMatchObject({
      status: 'suspended',
      suspendedAt: now().toISOString(),
      suspensionReason: 'unpaid',
      clockStopped: false,
    });
    const refused = await validate(license, 'device');
    expect(refused).toMatchObject({ success: false, code: 'SUSPENDED' });
    expect(JSON.stringify(refused)).not.toContain('unpaid');
    expect(licenseOf(await post(license.id, 'reinstate'))).toMatchObject({
      status: 'active',
      suspendedAt: null,
      suspensionReason: null,
    });
    expect(await validate(license, 'device')).toMatchObject({ code: 'OK' });
    expect(await storedLog(server, application.id, 'license_suspended')).toMatchObject([
      { licenseId: license.id, metadata: { reason: 'unpaid', stopClock: false } },
    ]);
    expect(await storedLog(server, application.id, 'license_reinstated')).toHaveLength(1);
  });

  test('without a body, and with limits on the reason', async () => {
    const { id } = await used();
    for (const reason of ['', 'a'.repeat(201), 'a\0', null]) {
      expectIssue(await post(id, 'suspend', { reason }), 'reason');
    }
    expectIssue(await post(id, 'suspend', { stopclock: true }), 'stopclock');
    expect(licenseOf(await post(id, 'suspend')).status).toBe('suspended');
  });

  test('a hundred times with the clock stopped loses nothing of the term', async () => {
    const license = await used({ durationSeconds: 10 * day });
    const started = server.clock.now();
    let stopped = 0;
    for (let round = 1; round <= 100; round++) {
      server.clock.step(0.125 * round);
      await post(license.id, 'suspend', { stopClock: true });
      const pause = 0.375 * (round * 7919) ** 0.5;
      const exact = Math.round(pause * 8) / 8;
      server.clock.step(exact);
      stopped += exact;
      expect((await post(license.id, 'reinstate')).status).toBe(200);
    }
    const expiresAt = new Date(started + (10 * day + stopped) * 1000).toISOString();
    expect((await get(license.id)).expiresAt).toBe(expiresAt);
  });

  test('with the clock stopped outlives the term, and leaves what was left of it', async () => {
    const license = await used({ durationSeconds: 100 });
    server.clock.step(99.999);
    await post(license.id, 'suspend', { stopClock: true });
    server.clock.step(500);
    expect(await get(license.id)).toMatchObject({ status: 'suspended', clockStopped: true });
    await post(license.id, 'reinstate');
    expect(await validate(license)).toMatchObject({ code: 'OK', expiresAt: inSeconds(0.001) });
    server.clock.step(0.001);
    expect(await validate(license)).toMatchObject({ code: 'EXPIRED' });
  });

  test('with the clock stopped keeps an expiry that is set meanwhile, from then on', async () => {
    const license = await used({ durationSeconds: 100 });
    await post(license.id, 'suspend', { stopClock: true });
    server.clock.step(5_000);
    const expiresAt = inSeconds(60);
    const patched = await world.client.send('PATCH', `/api/v1/licenses/${license.id}`, { expiresAt });
    expect(patched.status).toBe(200);
    await post(license.id, 'reinstate');
    expect((await get(license.id)).expiresAt).toBe(expiresAt);
  });

  test.each([{ entitlements: { a: true } }, { metadata: { client: { a: 1 } } }])(
    'refuses the name __proto__, which a parser would drop, in %j',
    async (changes) => {
      const license = await used({ durationSeconds: 100 });
      const body = JSON.stringify(changes).replace('"a"', '"__proto__"');
      const answer = await world.client.send('PATCH', `/api/v1/licenses/${license.id}`, JSON.parse(body));
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    },
  );

  test('is extended with the other licenses of the application while its clock is stopped', async () => {
    const [stopped, running] = [await used(), await used()];
    const expiresAt = inSeconds(100);
    await post(stopped.id, 'suspend', { stopClock: true });
    await post(running.id, 'suspend');
    server.clock.step(200);
    const extended = await world.client.post(`/api/v1/apps/${application.id}/licenses/extend`, {
      seconds: 60,
    });
    expect(extended.body).toEqual({ success: true, extended: 1 });
    expect((await get(running.id)).expiresAt).toBe(expiresAt);
    await post(stopped.id, 'reinstate');
    expect((await get(stopped.id)).expiresAt).toBe(inSeconds(160));
  });

  test('is counted apart in the metrics, and the total stays the sum', async () => {
    const other = await createWorld(server);
    const own = await other.createApplication();
    const licenses = await own.mint({ amount: 6, durationSeconds: 100 });
    const opened = await openSession(server, own);
    const [, active, expiring, banned, plain] = licenses;
    for (const license of [active, expiring, banned, plain]) {
      await opened.ask(validatePath, { licenseKey: license?.licenseKey });
    }
    for (const license of licenses.slice(0, 4)) {
      expect((await other.client.post(`/api/v1/licenses/${license.id}/suspend`)).status).toBe(200);
    }
    await other.client.post(`/api/v1/licenses/${banned?.id}/ban`);
    const counts = async () =>
      expectSuccess(await other.client.get('/api/v1/metrics/overview'), 200, metricsAnswer).metrics.licenses;
    const expected = { total: 6, unused: 1, active: 1, suspended: 3, expired: 0, banned: 1 };
    expect(await counts()).toEqual(expected);
    server.clock.step(101);
    expect(await counts()).toEqual({ ...expected, active: 0, expired: 1 });
    await other.client.post(`/api/v1/licenses/${expiring?.id}/reinstate`);
    expect(await counts()).toEqual({ ...expected, active: 0, suspended: 2, expired: 2 });
  });
});

describe('unbanning', () => {
  const bans = () =>
    sql<{ value: string }>(server, 'SELECT value FROM bans WHERE application_id = $1 ORDER BY value', [
      application.id,
    ]);

  test('lifts no other ban unless it is asked to, and then only those that this license caused', async () => {
    const [first, second] = [await used({}, 'one'), await used({}, 'two')];
    await insertBan(server, application.id, 'hwid', 'by hand');
    await post(first.id, 'ban', { scope: 'hwid_and_ip', ip: '203.0.113.1' });
    await post(second.id, 'ban', { scope: 'hwid_and_ip', ip: '203.0.113.2' });
    const all = ['203.0.113.1', '203.0.113.2', 'by hand', 'one', 'two'];

    expect(licenseOf(await post(first.id, 'unban')).status).toBe('active');
    expect((await bans()).map(({ value }) => value)).toEqual(all);
    expect(await validate(first, 'one')).toMatchObject({ code: 'HWID_BANNED' });

    await post(first.id, 'ban');
    expect(licenseOf(await post(first.id, 'unban', { removeBans: true })).status).toBe('active');
    expect((await bans()).map(({ value }) => value)).toEqual(['203.0.113.2', 'by hand', 'two']);
    expect(await validate(first, 'one')).toMatchObject({ code: 'OK' });
    expect(await validate(second, 'two')).toMatchObject({ code: 'HWID_BANNED' });
    expect(await storedLog(server, application.id, 'license_unbanned')).toMatchObject([
      { metadata: { removedBans: 0 } },
      { metadata: { removedBans: 2 } },
    ]);
  });

  test('makes a license unused again that was banned before its first use', async () => {
    const license = await application.mintOne({ durationSeconds: 100 });
    await post(license.id, 'ban');
    expect(licenseOf(await post(license.id, 'unban')).status).toBe('unused');
    expect(await validate(license)).toMatchObject({ code: 'OK', expiresAt: inSeconds(100) });
  });
});

describe('renewing', () => {
  test.each([
    ['from_expiry', 0, 130],
    ['from_now', 0, 30],
    ['from_now_if_expired', 0, 130],
    ['from_expiry', 120, 10],
    ['from_now', 120, 30],
    ['from_now_if_expired', 120, 30],
  ])('%s, %i seconds after its first use, ends it in %i seconds', async (basis, passed, left) => {
    const license = await used({ durationSeconds: 100 });
    server.clock.step(passed);
    const renewed = licenseOf(await post(license.id, 'renew', { seconds: 30, basis }));
    expect(renewed).toMatchObject({ status: 'active', expiresAt: inSeconds(left) });
    expect(await validate(license)).toMatchObject({ code: 'OK', expiresAt: inSeconds(left) });
  });

  test('refuses wrong input', async () => {
    const { id } = await used();
    for (const seconds of [0, -1, 1.5, '60', null, undefined, 2_147_483_648]) {
      expectIssue(await post(id, 'renew', { seconds, basis: 'from_now' }), 'seconds');
    }
    expectIssue(await post(id, 'renew', { seconds: 1, basis: 'from_then' }), 'basis');
    expectIssue(await post(id, 'renew', { seconds: 1 }), 'basis');
  });

  test('reaches the latest possible expiry and no further', async () => {
    const { id } = await used();
    await patch(id, { expiresAt: '9999-12-31T23:59:29Z' });
    const before = await rowOf(id);
    expectIssue(await post(id, 'renew', { seconds: 31, basis: 'from_expiry' }), 'seconds');
    expect(await rowOf(id)).toEqual(before);
    const renewed = licenseOf(await post(id, 'renew', { seconds: 30, basis: 'from_expiry' }));
    expect(renewed.expiresAt).toBe('9999-12-31T23:59:59.000Z');
  });

  test('a first use by a verdict from before is judged again, and starts the longer term', async () => {
    const { id, licenseKey } = await application.mintOne({ durationSeconds: 100 });
    const { pool } = server.deps.services.database;
    const load = createLicenseLoader(pool);
    const outdated = await load(sha256(licenseKey));
    expect(licenseOf(await post(id, 'renew', { seconds: 30, basis: 'from_now' }))).toMatchObject({
      status: 'unused',
      durationSeconds: 130,
    });
    const use = {
      developerId: world.developer.id,
      activate: { expiresAt: new Date(inSeconds(100)) },
      hwid: null,
      labels: noLabels,
      origin: { ip: null, country: null },
      now: now(),
    };
    const before = await rowOf(id);
    expect(outdated && (await applyFirstUse(pool, outdated, use))).toBe(false);
    expect(await rowOf(id)).toEqual(before);
    expect(await validate({ licenseKey })).toMatchObject({ code: 'OK', expiresAt: inSeconds(130) });
  });

  test('at the same time adds each renewal once', async () => {
    const { id } = await used({ durationSeconds: 100 });
    const renewals = Array.from({ length: 10 }, () =>
      post(id, 'renew', { seconds: 7, basis: 'from_expiry' }),
    );
    for (const answer of await Promise.all(renewals)) expect(answer.status).toBe(200);
    expect((await get(id)).expiresAt).toBe(inSeconds(170));
  });
});

describe('at the same time', () => {
  test.each([
    ['suspend', {}],
    ['reinstate', undefined],
    ['unban', {}],
  ] as const)('one of ten requests to %s is carried out, and the others are refused', async (verb, body) => {
    const { id } = await used();
    if (verb === 'reinstate') await post(id, 'suspend', { stopClock: true });
    if (verb === 'unban') await post(id, 'ban');
    server.clock.step(3);
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(id, verb, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
    const event = {
      suspend: 'license_suspended',
      reinstate: 'license_reinstated',
      unban: 'license_unbanned',
    };
    expect(await storedLog(server, application.id, event[verb])).toHaveLength(1);
    if (verb === 'reinstate') expect((await get(id)).expiresAt).toBe(inSeconds(100));
  });
});

describe('changing', () => {
  const everything = {
    note: 'Order 1001',
    deviceLimit: 1_000,
    selfService: 'key',
    moves: { count: 100, periodSeconds: 1 },
    cooldownSeconds: 2_147_483_647,
    releaseIdleAfterSeconds: 1,
    graceSeconds: 2_147_483_647,
    leaseSeconds: 2_592_000,
    entitlements: { 'export.pdf': true, seats: 5, channel: 'beta' },
    metadata: { client: { color: 'red' }, private: { order: 17 } },
    tags: ['reseller', 'eu'],
    expiresAt: '9999-12-31T23:59:59.000Z',
  };

  test('sets every member, leaves the others, and is seen by the next validation', async () => {
    const license = await used({}, 'device');
    // The answer to a change does not say when it was last seen.
    const { lastSeenAt: _, ...before } = await get(license.id);
    const all = { ...before, ...everything, lastIp: expect.any(String), updatedAt: expect.any(String) };
    expect(licenseOf(await patch(license.id, everything))).toEqual(all);
    expect(await validate(license, 'device')).toMatchObject({
      code: 'OK',
      entitlements: everything.entitlements,
      metadata: everything.metadata.client,
      expiresAt: everything.expiresAt,
    });
    for (const [name, value] of Object.entries(everything)) {
      const single = await patch(license.id, { [name]: value });
      expect(licenseOf(single), name).toEqual(all);
    }
    const [entry] = await storedLog(server, application.id, 'license_changed');
    expect(entry?.metadata).toEqual({ changed: expect.arrayContaining(Object.keys(everything)) });
    expect(JSON.stringify(entry)).not.toContain('Order 1001');
  });

  test('replaces entitlements, metadata and tags as a whole, and null removes what can be absent', async () => {
    const { id } = await used();
    await patch(id, everything);
    const less = {
      note: null,
      moves: null,
      releaseIdleAfterSeconds: null,
      leaseSeconds: null,
      expiresAt: null,
      entitlements: { seats: 6 },
      metadata: {},
      tags: [],
    };
    expect(licenseOf(await patch(id, less))).toMatchObject({
      ...less,
      metadata: { client: {}, private: {} },
    });
    expect(await rowOf(id)).toMatchObject({ metadata: null, note: null, entitlements: { seats: 6 } });
  });

  test('over GraphQL, null removes the same, and means nothing elsewhere', async () => {
    const { id } = await used();
    await patch(id, everything);
    const before = await get(id);
    const text = `mutation ($input: UpdateLicenseInput!) { updateLicense(input: $input) { license { id } } }`;
    const answer = await graphql().ask(text, {
      input: {
        id,
        note: null,
        moves: null,
        leaseSeconds: null,
        releaseIdleAfterSeconds: null,
        expiresAt: null,
        deviceLimit: null,
        tags: null,
      },
    });
    expect(answer.errors).toEqual([]);
    expect(await get(id)).toEqual({
      ...before,
      updatedAt: expect.any(String),
      note: null,
      moves: null,
      leaseSeconds: null,
      releaseIdleAfterSeconds: null,
      expiresAt: null,
    });
    const nothing = await graphql().ask(text, { input: { id, deviceLimit: null } });
    expect(nothing.codes).toEqual(['VALIDATION_FAILED']);
  });

  test.each([
    ['note', ['', 'a'.repeat(1_001), 'a\0', 5]],
    ['noteCiphertextB64', ['!', 'A'.repeat(8_196)]],
    ['deviceLimit', [0, 1_001, 1.5, null, '3']],
    ['selfService', ['everyone', null]],
    ['moves', [{ count: 0, periodSeconds: 1 }, { count: 101, periodSeconds: 1 }, { count: 1 }, 3]],
    ['cooldownSeconds', [-1, 2_147_483_648, null]],
    ['releaseIdleAfterSeconds', [0, -1, 2_147_483_648]],
    ['graceSeconds', [-1, 2_147_483_648, null]],
    ['leaseSeconds', [3_599, 2_592_001]],
    ['entitlements', [null, [], { A: true }, { a: null }, { a: 1.5 }, { a: 'a'.repeat(201) }]],
    ['metadata', [null, { public: {} }, { client: { a: [] } }, { private: { a: 'a'.repeat(501) } }]],
    ['tags', [null, 'a', [''], Array.from({ length: 21 }, (_, index) => `t${index}`)]],
    ['expiresAt', ['tomorrow', 0, '2030-01-01', '9999-12-31T23:59:59.001Z', '9999-12-31T23:59:59-01:00']],
    ['subscriptionTier', [3]],
    ['status', ['active']],
  ] as const)('refuses wrong values of %s, and changes nothing', async (name, values) => {
    const { id } = await used();
    const before = await rowOf(id);
    for (const value of values) expectIssue(await patch(id, { tags: ['new'], [name]: value }), name);
    expect(await rowOf(id)).toEqual(before);
  });

  test('of nothing is refused', async () => {
    const { id } = await used();
    expectFailure(await patch(id, {}), 400, 'VALIDATION_FAILED');
  });

  test('accepts an expiry with another time zone', async () => {
    const { id } = await used();
    expect(licenseOf(await patch(id, { expiresAt: '2100-01-01T00:00:00+02:00' })).expiresAt).toBe(
      '2099-12-31T22:00:00.000Z',
    );
  });

  test('to an expiry in the past ends the license now', async () => {
    const license = await used({ durationSeconds: 1_000 });
    expect(licenseOf(await patch(license.id, { expiresAt: now().toISOString() })).status).toBe('expired');
    expect(await validate(license)).toMatchObject({ code: 'EXPIRED' });
  });

  test('stores no readable note in private mode, but removes one and stores an encrypted one', async () => {
    const other = await createWorld(server);
    const own = await other.createApplication();
    const { id } = await own.mintOne({ note: 'readable' });
    await other.client.post('/api/v1/account/mode', {
      mode: 'private',
      password: other.developer.password,
    });
    const change = (body: unknown) => other.client.patch(`/api/v1/licenses/${id}`, body);
    expectFailure(await change({ note: 'secret' }), 409, 'PRIVATE_MODE');
    const noteCiphertextB64 = randomBytes(48).toString('base64');
    expect(licenseOf(await change({ note: null, noteCiphertextB64 }))).toMatchObject({
      note: null,
      noteCiphertextB64,
    });
  });
});

describe('leases', () => {
  const leased = async () => {
    await application.settings({ leasesEnabled: true });
    const license = await application.mintOne({ durationSeconds: 10 * day });
    const answer = await createCallClient(server, application).ask('lease', {
      licenseKey: license.licenseKey,
      hwid: 'device',
    });
    expect(answer).toMatchObject({ code: 'OK' });
    return license;
  };
  const isRevoked = async ({ id }: SeededLicense) => {
    const [lease] = await sql<{ revoked: boolean }>(
      server,
      'SELECT revoked_rev IS NOT NULL AS revoked FROM leases WHERE license_id = $1',
      [id],
    );
    return lease?.revoked;
  };

  test.each([
    ['suspending', (id: string) => post(id, 'suspend', {}), true],
    ['an earlier expiry', (id: string) => patch(id, { expiresAt: inSeconds(9 * day) }), true],
    ['a later expiry', (id: string) => patch(id, { expiresAt: inSeconds(11 * day) }), false],
    ['no expiry', (id: string) => patch(id, { expiresAt: null }), false],
    ['other entitlements', (id: string) => patch(id, { entitlements: { a: true } }), false],
    ['a grace', (id: string) => patch(id, { graceSeconds: 60 }), false],
    ['a shorter term', (id: string) => post(id, 'renew', { seconds: day, basis: 'from_now' }), true],
    ['a longer term', (id: string) => post(id, 'renew', { seconds: day, basis: 'from_expiry' }), false],
    ['a new key without an overlap', (id: string) => post(id, 'rotate-key', { overlapSeconds: 0 }), true],
    ['a new key with an overlap', (id: string) => post(id, 'rotate-key', { overlapSeconds: 1 }), false],
  ] as const)('of the license after %s', async (_name, change, revoked) => {
    const license = await leased();
    expect((await change(license.id)).status).toBe(200);
    expect(await isRevoked(license)).toBe(revoked);
  });

  test('are revoked, and verdicts outdated, when a new key ends the old one in the grace, whatever the overlap', async () => {
    await application.settings({ leasesEnabled: true });
    const license = await used({ durationSeconds: 100 }, 'device');
    await patch(license.id, { graceSeconds: 10 * day });
    const releases = async () => {
      const rows = await sql(server, 'SELECT device_releases FROM licenses WHERE id = $1', [license.id]);
      return z.object({ device_releases: z.int() }).parse(rows[0]).device_releases;
    };
    const before = await releases();
    server.clock.step(100);
    const { licenseKey, id } = license;
    const asked = { licenseKey, hwid: 'device' };
    expect(await createCallClient(server, application).ask('lease', asked)).toMatchObject({ code: 'OK' });
    expect((await post(id, 'rotate-key', { overlapSeconds: 500 })).status).toBe(200);
    expect([await isRevoked(license), await releases()]).toEqual([true, before + 1]);
    expect((await validate(license, 'device')).code).toBe('LICENSE_NOT_FOUND');
  });

  test('of a key that was replaced end with it, but not those from before', async () => {
    const license = await leased();
    const { licenseKey, id } = license;
    const ends = async () => {
      const rows = await sql(server, 'SELECT expires_at FROM leases WHERE license_id = $1', [id]);
      return z.object({ expires_at: z.date() }).parse(rows[0]).expires_at.getTime();
    };
    const end = await ends();
    expect((await post(id, 'rotate-key', { overlapSeconds: 3_600 })).status).toBe(200);
    expect([await isRevoked(license), await ends()]).toEqual([false, end]);
    const renewed = await createCallClient(server, application).ask('lease', { licenseKey, hwid: 'device' });
    const claims = z
      .object({ exp: z.int() })
      .parse(JSON.parse(Buffer.from(String(renewed.lease).split('.')[1] ?? '', 'base64url').toString()));
    expect(claims.exp).toBe(Math.floor(server.clock.now() / 1_000) + 3_600);
  });

  test('are revoked when a grace that they may run into gets shorter', async () => {
    const license = await leased();
    await patch(license.id, { graceSeconds: 60 });
    expect(await isRevoked(license)).toBe(false);
    await patch(license.id, { graceSeconds: 59 });
    expect(await isRevoked(license)).toBe(true);
  });
});

describe('a new key', () => {
  const rotatedAnswer = z.strictObject({
    success: z.literal(true),
    licenseKey: z.string().nullable(),
    license: licenseShape,
  });
  const rotate = async (id: string, body: object) => {
    const { licenseKey, license } = expectSuccess(await post(id, 'rotate-key', body), 200, rotatedAnswer);
    return { id, licenseKey: licenseKey ?? '', license };
  };
  const codeOf = async (license: { licenseKey: string }) => (await validate(license, 'device')).code;
  const previousOf = (id: string) =>
    sql<{ validUntil: Date }>(
      server,
      `SELECT valid_until AS "validUntil" FROM previous_license_keys WHERE license_id = $1`,
      [id],
    );
  const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

  test('is good at once, and the old one until the end of the overlap', async () => {
    const old = await used({ durationSeconds: 1_000 }, 'device');
    const fresh = await rotate(old.id, { overlapSeconds: 60 });
    expect(fresh.license.keyPrefix).toBe(fresh.licenseKey.slice(0, fresh.license.keyPrefix.length));
    expect(fresh.licenseKey).not.toBe(old.licenseKey);
    expect([await codeOf(old), await codeOf(fresh)]).toEqual(['OK', 'OK']);
    server.clock.step(59.999);
    expect([await codeOf(old), await codeOf(fresh)]).toEqual(['OK', 'OK']);
    server.clock.step(0.001);
    expect([await codeOf(old), await codeOf(fresh)]).toEqual(['LICENSE_NOT_FOUND', 'OK']);
  });

  test('without an overlap ends all others, and a refusal that was cached of it is forgotten', async () => {
    const oldest = await used({}, 'device');
    const old = await rotate(oldest.id, { overlapSeconds: 60 });
    const key = `CHOSEN-${randomBytes(16).toString('hex')}`;
    expect(await codeOf({ licenseKey: key })).toBe('LICENSE_NOT_FOUND');
    const given = { overlapSeconds: 0, licenseKeyHash: hashOf(key), licenseKeyPrefix: 'CHOSEN' };
    const fresh = await rotate(oldest.id, given);
    expect(fresh).toMatchObject({ licenseKey: '', license: { keyPrefix: 'CHOSEN' } });
    expect(await codeOf({ licenseKey: key })).toBe('OK');
    expect([await codeOf(oldest), await codeOf(old)]).toEqual(['LICENSE_NOT_FOUND', 'LICENSE_NOT_FOUND']);
    expect(await previousOf(oldest.id)).toEqual([]);
  });

  test('leaves the old one not past the expiry, nor past one that was set earlier since', async () => {
    for (const left of [100, 50]) {
      const old = await used({ durationSeconds: 100 }, 'device');
      await patch(old.id, { graceSeconds: 1_000 });
      const fresh = await rotate(old.id, { overlapSeconds: 500 });
      if (left < 100) await patch(old.id, { expiresAt: inSeconds(left) });
      server.clock.step(left - 0.001);
      expect([await codeOf(old), await codeOf(fresh)]).toEqual(['OK', 'OK']);
      server.clock.step(0.001);
      expect([await codeOf(old), await codeOf(fresh)]).toEqual(['LICENSE_NOT_FOUND', 'OK']);
    }
  });

  test('ends earlier ones with the last replaced one at the latest', async () => {
    const first = await used({ durationSeconds: 1_000 }, 'device');
    const second = await rotate(first.id, { overlapSeconds: 500 });
    const third = await rotate(first.id, { overlapSeconds: 50 });
    server.clock.step(49);
    expect([await codeOf(first), await codeOf(second), await codeOf(third)]).toEqual(['OK', 'OK', 'OK']);
    server.clock.step(1);
    const over = 'LICENSE_NOT_FOUND';
    expect([await codeOf(first), await codeOf(second), await codeOf(third)]).toEqual([over, over, 'OK']);
  });

  test('reaches a ban, a suspension and a tier under the old key, too', async () => {
    const old = await used({ durationSeconds: 1_000 }, 'device');
    const fresh = await rotate(old.id, { overlapSeconds: 500 });
    expect([await codeOf(old), await codeOf(fresh)]).toEqual(['OK', 'OK']);
    await world.client.patch(`/api/v1/licenses/${old.id}/tier`, { subscriptionTier: 7 });
    expect(await validate(old, 'device')).toMatchObject({ subscriptionTier: 7 });
    await post(old.id, 'suspend', {});
    expect([await codeOf(old), await codeOf(fresh)]).toEqual(['SUSPENDED', 'SUSPENDED']);
    await post(old.id, 'ban', {});
    expect([await codeOf(old), await codeOf(fresh)]).toEqual(['BANNED', 'BANNED']);
  });

  test('keeps at most ten replaced ones, the last among them', async () => {
    const keys = [await used({ durationSeconds: 1_000 }, 'device')];
    const { id } = keys[0] ?? { id: '' };
    for (let count = 1; count <= 12; count++)
      keys.push({ ...(await rotate(id, { overlapSeconds: 100 })), keyPrefix: '' });
    expect(await previousOf(id)).toHaveLength(10);
    const codes = await Promise.all(keys.map(codeOf));
    expect(codes.slice(-2)).toEqual(['OK', 'OK']);
    expect(codes.filter((code) => code === 'OK')).toHaveLength(11);
  });

  test('from fifty requests at once leaves exactly one current key', async () => {
    const old = await used({ durationSeconds: 1_000 }, 'device');
    const rotated = await Promise.all(
      Array.from({ length: 50 }, () => rotate(old.id, { overlapSeconds: 0 })),
    );
    expect(new Set(rotated.map(({ licenseKey }) => licenseKey)).size).toBe(50);
    const codes = await Promise.all([old, ...rotated].map(codeOf));
    expect(codes.filter((code) => code === 'OK')).toHaveLength(1);
    expect(await previousOf(old.id)).toEqual([]);
    expect(await storedLog(server, application.id, 'license_key_rotated')).toHaveLength(50);
  });

  test('is nowhere but in its answer', async () => {
    const old = await used({}, 'device');
    const fresh = await rotate(old.id, { overlapSeconds: 60 });
    const stored = JSON.stringify([
      await databaseState(server),
      await sql(server, `SELECT to_jsonb(p) FROM previous_license_keys AS p`),
    ]);
    for (const { licenseKey } of [old, fresh]) expect(stored).not.toContain(licenseKey);
    const shown = JSON.stringify((await world.client.get(`/api/v1/licenses/${old.id}`)).body);
    expect(shown).not.toContain(fresh.licenseKey);
    expect(await storedLog(server, application.id, 'license_key_rotated')).toMatchObject([
      { licenseId: old.id, metadata: { overlapSeconds: 60, keyPrefix: old.keyPrefix } },
    ]);
  });

  test('follows a mask, of its own or the account’s', async () => {
    const other = await createWorld(server);
    const own = await other.createApplication();
    const { id } = await own.mintOne();
    const ask = async (body: object) => {
      const answer = await other.client.post(`/api/v1/licenses/${id}/rotate-key`, body);
      return expectSuccess(answer, 200, rotatedAnswer).licenseKey;
    };
    expect(await ask({ overlapSeconds: 0, mask: 'LAB-XXXXXXXXXXXXX' })).toMatch(/^LAB-[2-9A-HJ-NP-Z]{13}$/);
    await other.client.post('/api/v1/account/mask', { mask: 'ACC-XXXXXXXXXXXXX' });
    expect(await ask({ overlapSeconds: 0 })).toMatch(/^ACC-[2-9A-HJ-NP-Z]{13}$/);
  });

  test('is generated by the client in private mode', async () => {
    const other = await createWorld(server);
    const own = await other.createApplication();
    const { id } = await own.mintOne();
    await other.client.post('/api/v1/account/mode', {
      mode: 'private',
      password: other.developer.password,
    });
    const ask = (body: object) => other.client.post(`/api/v1/licenses/${id}/rotate-key`, body);
    expectFailure(await ask({ overlapSeconds: 0 }), 409, 'PRIVATE_MODE');
    const blind = { licenseKeyHash: hashOf(randomBytes(8).toString('hex')), licenseKeyPrefix: 'AB' };
    expect((await ask({ overlapSeconds: 0, ...blind })).body).toMatchObject({
      success: true,
      licenseKey: null,
    });
  });

  test('is none that is or was one', async () => {
    const old = await used({ durationSeconds: 1_000 });
    const fresh = await rotate(old.id, { overlapSeconds: 500 });
    const another = await application.mintOne();
    for (const { licenseKey } of [old, fresh, another]) {
      const licenseKeyHash = hashOf(licenseKey);
      const blind = { overlapSeconds: 0, licenseKeyHash, licenseKeyPrefix: 'AB' };
      expectFailure(await post(old.id, 'rotate-key', blind), 409, 'KEY_EXISTS');
      const batch = await world.client.post('/api/v1/licenses/create-blind', {
        applicationId: application.id,
        keys: [{ licenseKeyHash, licenseKeyPrefix: 'AB', durationSeconds: 0 }],
      });
      expectFailure(batch, 409, 'KEY_EXISTS');
    }
    expect([await codeOf(old), await codeOf(fresh)]).toEqual(['OK', 'OK']);
  });

  test('refuses wrong input', async () => {
    const { id } = await used();
    const hash = hashOf('a key');
    for (const [body, field] of [
      [{}, 'overlapSeconds'],
      [{ overlapSeconds: -1 }, 'overlapSeconds'],
      [{ overlapSeconds: 2_592_001 }, 'overlapSeconds'],
      [{ overlapSeconds: 0, mask: 'X' }, 'mask'],
      [{ overlapSeconds: 0, licenseKeyHash: 'ab', licenseKeyPrefix: 'a' }, 'licenseKeyHash'],
      [{ overlapSeconds: 0, licenseKeyHash: hash, licenseKeyPrefix: 'a key' }, 'licenseKeyPrefix'],
    ] as const) {
      expectIssue(await post(id, 'rotate-key', body), field);
    }
    for (const half of [{ licenseKeyHash: hash }, { licenseKeyPrefix: 'a' }]) {
      expectFailure(await post(id, 'rotate-key', { overlapSeconds: 0, ...half }), 400, 'VALIDATION_FAILED');
    }
    expect(await storedLog(server, application.id, 'license_key_rotated')).toEqual([]);
  });
});

test('a license of another developer, or of nobody, is not found', async () => {
  const license = await used();
  const stranger = await createWorld(server);
  const before = await rowOf(license.id);
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { tags: ['mine'] }],
    ['POST', '/unban', {}],
    ['POST', '/suspend', {}],
    ['POST', '/reinstate', undefined],
    ['POST', '/renew', { seconds: 1, basis: 'from_now' }],
    ['POST', '/rotate-key', { overlapSeconds: 0 }],
  ] as const) {
    for (const id of [license.id, 'garbage']) {
      const answer = await stranger.client.send(method, `/api/v1/licenses/${id}${path}`, body);
      expectFailure(answer, 404, 'LICENSE_NOT_FOUND');
    }
    const visitor = new ApiClient(server.baseUrl);
    expectFailure(
      await visitor.send(method, `/api/v1/licenses/${license.id}${path}`, body),
      401,
      'UNAUTHENTICATED',
    );
  }
  expect(await rowOf(license.id)).toEqual(before);
});
