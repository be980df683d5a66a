import { randomInt, randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { skipCodes } from '../../src/services/license/change-in-slices.ts';
import { RequestWork } from '../../src/services/request-work.ts';
import { insertLicenses } from '../graphql/rows.ts';
import { createGraphqlWorld } from '../graphql/support.ts';
import { createCallClient } from '../setup/call-client.ts';
import { deviceRequestOf } from '../setup/device-request.ts';
import { startTestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { forFile, forTest, useServer } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import { expectFailure, expectSuccess, missingId, noLimits } from './support.ts';

/** Changes of many licenses, in REST and in GraphQL. */

const server = useServer({ env: noLimits });
const world = forFile(() => createGraphqlWorld(server));
const application = forTest(() => world.createApplication());

const outcome = z.strictObject({
  id: z.string(),
  outcome: z.enum(['changed', 'skipped']),
  code: z.enum(skipCodes).optional(),
});
const counts = {
  success: z.literal(true),
  matched: z.int(),
  changed: z.int(),
  skipped: z.int(),
  skippedByCode: z.partialRecord(z.enum(skipCodes), z.int()),
};
const preview = z.strictObject({
  ...counts,
  dryRun: z.literal(true),
  sample: z.array(outcome.extend({ keyPrefix: z.string().nullable() })),
  ids: z.array(z.string()),
});
const run = z.strictObject({ ...counts, dryRun: z.literal(false), results: z.array(outcome) });

const post = (body: object, id = application.id, client = world.client) =>
  client.post(`/api/v1/apps/${id}/licenses/bulk`, body);
const dry = async (body: object) => expectSuccess(await post({ ...body, dryRun: true }), 200, preview);
const change = async (body: object, client = world.client) =>
  expectSuccess(await post(body, application.id, client), 200, run);

/** Licenses in all kinds of states. */
async function insertVarious(amount: number, applicationId = application.id): Promise<string[]> {
  const any = <Item>(first: Item, ...others: readonly Item[]): Item =>
    others.reduce((chosen, other, index) => (randomInt(index + 2) === 0 ? other : chosen), first);
  const at = (days: number) => new Date(server.clock.now() + days * 86_400_000).toISOString();
  const rows = await insertLicenses(
    server,
    applicationId,
    Array.from({ length: amount }, () => {
      const status = any('unused', 'active', 'active', 'banned');
      const isUsed = status === 'active' || (status === 'banned' && any(true, false));
      const suspended_at = any(null, at(-1));
      return {
        status,
        activated_at: isUsed ? at(-9) : null,
        expires_at: isUsed
          ? any(null, at(-2), at(-0.5), at(3), '9999-12-31T23:59:59Z', '9999-12-31T23:59:58Z')
          : null,
        duration_seconds: any(0, 60, 2_147_483_647),
        suspended_at,
        clock_stopped_at: any(null, suspended_at),
        subscription_tier: any(0, 1, 2),
        tags: any<string[]>(
          [],
          ['a'],
          ['a', 'b'],
          Array.from({ length: 20 }, (_, index) => `tag ${index}`),
        ),
        note: any(null, 'a note', 'x'.repeat(1_000)),
      };
    }),
  );
  return rows.map((row) => z.looseObject({ id: z.string() }).parse(row).id);
}

const stored = async (ids: readonly string[]) => {
  const rows = await sql(server, 'SELECT * FROM licenses WHERE id = ANY($1::uuid[])', [ids]);
  return new Map(rows.map((row) => [z.looseObject({ id: z.string() }).parse(row).id, JSON.stringify(row)]));
};
const logged = async (event: string) => {
  const rows = await sql(
    server,
    'SELECT license_id FROM security_log WHERE application_id = $1 AND event = $2 ORDER BY license_id',
    [application.id, event],
  );
  return z
    .array(z.object({ license_id: z.string() }))
    .parse(rows)
    .map(({ license_id }) => license_id);
};

const actions = [
  ['suspend', { reason: 'unpaid', stopClock: true }, 'license_suspended'],
  ['suspend', {}, 'license_suspended'],
  ['reinstate', {}, 'license_reinstated'],
  ['ban', {}, 'license_banned'],
  ['unban', {}, 'license_unbanned'],
  ['extend', { seconds: 60 }, 'license_extended'],
  ['renew', { seconds: 60, basis: 'from_expiry' }, 'license_renewed'],
  ['renew', { seconds: 60, basis: 'from_now' }, 'license_renewed'],
  ['setTier', { subscriptionTier: 1 }, 'license_tier_changed'],
  ['addTags', { tags: ['a', 'c'] }, 'license_changed'],
  ['removeTags', { tags: ['b', 'tag 1'] }, 'license_changed'],
  ['delete', {}, 'license_deleted'],
] as const;

describe('a dry run names exactly what the run changes, and each change has its log entry', () => {
  test.each(actions)('%s %j', async (action, params, event) => {
    const ids = await insertVarious(120);
    const before = await stored(ids);
    for (const selection of [{ ids: [...ids, missingId, 'garbage', ids[0]] }, { filter: {} }]) {
      const expected = await dry({ action, params, ...selection });
      expect(await stored(ids)).toEqual(before);
      expect(expected.matched).toBe(ids.length);
      expect(expected.sample).toHaveLength(20);
      expect(expected.ids.length).toBeGreaterThan(0);
    }
    const expected = await dry({ action, params, filter: {} });
    const { results, ...counted } = await change({ action, params, filter: {} });
    expect(results.map(({ id }) => id)).toEqual([...ids].sort().reverse());
    const changed = results.filter(({ outcome }) => outcome === 'changed').map(({ id }) => id);
    expect(changed).toEqual(expected.ids);
    expect(counted.skippedByCode).toEqual(expected.skippedByCode);
    const after = await stored(ids);
    const differing = ids.filter((id) => after.get(id) !== before.get(id));
    expect(new Set(differing)).toEqual(new Set(changed));
    expect(await logged(event)).toEqual([...changed].sort());
    for (const [index, { keyPrefix, ...sampled }] of expected.sample.entries()) {
      expect(sampled).toEqual(results[index]);
      expect(keyPrefix).toBe('ABCDEF');
    }
  });
});

test('an action that changes nothing is skipped as UNCHANGED', async () => {
  const { id } = await application.mintOne({ subscriptionTier: 4 });
  const skipped = async (action: string, params: object) =>
    (await change({ action, params, ids: [id] })).skippedByCode;
  expect(await skipped('setTier', { subscriptionTier: 4 })).toEqual({ UNCHANGED: 1 });
  expect(await skipped('removeTags', { tags: ['a'] })).toEqual({ UNCHANGED: 1 });
  expect(await skipped('addTags', { tags: ['a'] })).toEqual({});
  expect(await skipped('addTags', { tags: ['a'] })).toEqual({ UNCHANGED: 1 });
  expect(await skipped('ban', {})).toEqual({});
  expect(await skipped('ban', {})).toEqual({ UNCHANGED: 1 });
  expect(await skipped('suspend', {})).toEqual({ INVALID_TRANSITION: 1 });
});

test('licenses of other applications and developers are not found and stay as they are', async () => {
  const [own, beside] = [await application.mintOne(), await (await world.createApplication()).mintOne()];
  const stranger = await (await (await createWorld(server)).createApplication()).mintOne();
  const ids = [stranger.id, own.id, beside.id];
  const before = await stored([stranger.id, beside.id]);
  for (const action of ['ban', 'delete']) {
    const { results, matched } = await change({ action, ids });
    expect(matched).toBe(1);
    expect(results).toEqual([
      { id: stranger.id, outcome: 'skipped', code: 'LICENSE_NOT_FOUND' },
      { id: own.id, outcome: 'changed' },
      { id: beside.id, outcome: 'skipped', code: 'LICENSE_NOT_FOUND' },
    ]);
  }
  expect(await stored([stranger.id, beside.id])).toEqual(before);
  const other = await createWorld(server);
  const theirs = await other.createApplication();
  expectFailure(await post({ action: 'ban', filter: {} }, theirs.id), 404, 'APP_NOT_FOUND');
});

test('a filter selects as the list does', async () => {
  const ids = await insertVarious(60);
  const tagged = await dry({ action: 'delete', filter: { tag: 'b' } });
  const listed = await world.client.get(`/api/v1/apps/${application.id}/licenses?tag=b&limit=200`);
  const { licenses } = expectSuccess(
    listed,
    200,
    z.object({ licenses: z.array(z.object({ id: z.string() })) }),
  );
  expect(tagged.ids).toEqual(licenses.map(({ id }) => id));
  const filter = { status: ['banned'], tier: [0, 1], hasHwid: false };
  const { results } = await change({ action: 'delete', filter });
  const left = await stored(ids);
  expect(results.length).toBe(ids.length - left.size);
  expect((await dry({ action: 'delete', filter })).matched).toBe(0);
});

test('more than ten thousand are refused with their number, and nothing is changed', {
  tags: 'slow',
}, async () => {
  const rows = Array.from({ length: 10_001 }, (_, index) => ({ tags: index === 0 ? ['first'] : ['other'] }));
  await insertLicenses(server, application.id, rows);
  const refused = async (body: object) =>
    expectFailure(await post({ action: 'ban', ...body }), 400, 'TOO_MANY').error;
  for (const dryRun of [true, false]) {
    expect(await refused({ filter: {}, dryRun })).toContain('10,001');
    expect(await refused({ filter: { hasHwid: false }, dryRun })).toContain('10,001');
    expect(
      await refused({ ids: Array.from({ length: 10_002 }, (_, index) => `${index}`), dryRun }),
    ).toContain('10,002');
  }
  expect(await logged('license_banned')).toEqual([]);
  expect(await dry({ action: 'ban', filter: { tag: 'other' } })).toMatchObject({
    matched: 10_000,
    changed: 10_000,
  });
});

test('what cannot be a change is refused', async () => {
  const { id } = await application.mintOne();
  const paths = async (body: object) =>
    expectFailure(await post(body), 400, 'VALIDATION_FAILED').issues?.map(({ path }) => path.join('.'));
  expect(await paths({ action: 'ban' })).toEqual(['ids']);
  expect(await paths({ action: 'ban', ids: [id], filter: {} })).toEqual(['ids']);
  expect(await paths({ action: 'ban', ids: [] })).toEqual(['ids']);
  expect(await paths({ action: 'explode', ids: [id] })).toEqual(['action']);
  expect(await paths({ action: 'ban', ids: [id], params: { seconds: 1 } })).toEqual(['params.seconds']);
  expect(await paths({ action: 'extend', ids: [id] })).toEqual(['params.seconds']);
  expect(await paths({ action: 'ban', filter: { statuses: ['banned'] } })).toEqual(['filter.statuses']);
  expect(await paths({ action: 'ban', filter: { status: ['lost'] } })).toEqual(['filter.status.0']);
  expect(await paths({ action: 'ban', filter: { expiresFrom: 'soon' } })).toEqual(['filter.expiresFrom']);
});

test('GraphQL changes and tells the same', async () => {
  const ids = await insertVarious(30);
  const ask = async (dryRun: boolean) => {
    const answer = await world.graphql.ask(
      `mutation ($input: BulkLicensesInput!) { bulkLicenses(input: $input) {
        dryRun matched changed skipped skippedByCode { code count } sample { id keyPrefix outcome code } changedIds
        results { id outcome code } } }`,
      {
        input: {
          applicationId: application.id,
          action: 'renew',
          filter: { subscriptionTiers: [0, 1], metadata: null },
          params: { seconds: 60, basis: 'from_now' },
          dryRun,
        },
      },
    );
    expect(answer.errors).toEqual([]);
    return z.object({ bulkLicenses: z.looseObject({ changedIds: z.array(z.string()) }) }).parse(answer.data)
      .bulkLicenses;
  };
  const body = { action: 'renew', filter: { tier: [0, 1] }, params: { seconds: 60, basis: 'from_now' } };
  const byRest = await dry(body);
  const byGraphql = await ask(true);
  const coded = <Result extends object>(result: Result) => ({ code: null, ...result });
  expect(byGraphql).toMatchObject({
    matched: byRest.matched,
    changed: byRest.changed,
    sample: byRest.sample.map(coded),
    changedIds: byRest.ids,
  });
  const before = await stored(ids);
  expect(await ask(false)).toEqual({ ...byGraphql, dryRun: false });
  const after = await stored(ids);
  expect(ids.filter((id) => after.get(id) !== before.get(id)).sort()).toEqual([...byRest.ids].sort());
});

test('if the database refuses a slice, what was changed before is told', async () => {
  const keys = await application.mint({ amount: 120 });
  const { prisma } = server.deps.services.database;
  const begin = prisma.$transaction.bind(prisma);
  let begun = 0;
  const spy = vi.spyOn(prisma, '$transaction').mockImplementation((...given: unknown[]) => {
    begun += 1;
    if (begun > 1) throw Object.assign(new Error('the connection is lost'), { code: '08006' });
    return Reflect.apply(begin, prisma, given);
  });
  onTestFinished(() => spy.mockRestore());
  const { changed, results, skippedByCode } = await change({ action: 'ban', ids: keys.map(({ id }) => id) });
  spy.mockRestore();
  expect(changed).toBeGreaterThan(0);
  expect(skippedByCode).toEqual({ UNAVAILABLE: keys.length - changed });
  expect(results.slice(0, changed).every(({ outcome }) => outcome === 'changed')).toBe(true);
  expect(await logged('license_banned')).toEqual(
    keys
      .slice(0, changed)
      .map(({ id }) => id)
      .sort(),
  );
  vi.spyOn(prisma, '$transaction').mockImplementation(() => {
    throw Object.assign(new Error('the connection is lost'), { code: '08006' });
  });
  expectFailure(await post({ action: 'unban', filter: {} }), 503, 'UNAVAILABLE');
  vi.restoreAllMocks();
});

test('a run that takes too long to be answered ends, and the rest can be sent again', async () => {
  const ids = (await application.mint({ amount: 120 })).map(({ id }) => id);
  const late = vi.spyOn(RequestWork.prototype, 'isLate').mockReturnValueOnce(false).mockReturnValue(true);
  onTestFinished(() => late.mockRestore());
  const client = world.client.with({ headers: { 'Idempotency-Key': randomUUID() } });
  const body = { action: 'ban', ids };
  const first = await change(body, client);
  expect(first.changed).toBeGreaterThan(0);
  expect(first.skippedByCode).toEqual({ UNAVAILABLE: ids.length - first.changed });
  expect(await logged('license_banned')).toEqual(ids.slice(0, first.changed).sort());
  expectFailure(await post({ action: 'unban', filter: {} }), 503, 'UNAVAILABLE');
  late.mockRestore();
  expect(await change(body, client)).toMatchObject({ changed: ids.length, skipped: 0 });
  expect(await logged('license_banned')).toEqual([...ids].sort());
});

const onServer = () => server.deps.services.database.kind === 'server';

test('a license that no longer matches the filter when it is its turn is left alone', async () => {
  if (!onServer()) return;
  const [kept, renewed] = await insertLicenses(server, application.id, [
    { tags: ['old'] },
    { tags: ['old'] },
  ]);
  const ids = [kept, renewed].map((row) => z.looseObject({ id: z.string() }).parse(row).id);
  const client = await server.deps.services.database.pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(`UPDATE licenses SET tags = '{new}' WHERE id = $1`, [ids[1]]);
    const deleting = change({ action: 'delete', filter: { tag: 'old' } });
    await vi.waitFor(
      async () =>
        expect(
          await sql(
            server,
            `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
          AND datname = current_database()`,
          ),
        ).not.toEqual([]),
      { timeout: 10_000 },
    );
    await client.query('COMMIT');
    expect((await deleting).results).toEqual([
      { id: ids[1], outcome: 'skipped', code: 'NOT_MATCHED' },
      { id: ids[0], outcome: 'changed' },
    ]);
  } finally {
    client.release();
  }
});

test('changes of many and of one meet without loss', async () => {
  const keys = await application.mint({ amount: 130 });
  const ids = keys.map(({ id }) => id);
  const one = (index: number) => `/api/v1/licenses/${ids[index]}`;
  const answers = await Promise.all([
    post({ action: 'suspend', ids }),
    post({ action: 'setTier', filter: {}, params: { subscriptionTier: 7 } }),
    post({ action: 'addTags', ids: ids.toReversed(), params: { tags: ['a'] } }),
    post({ action: 'delete', ids: ids.slice(100) }),
    ...[3, 20, 60].map((index) => world.client.post(`${one(index)}/ban`)),
    ...[5, 99].map((index) => world.client.delete(one(index))),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const found = await sql(
    server,
    'SELECT id, status, subscription_tier, tags, suspended_at FROM licenses WHERE application_id = $1 ORDER BY id',
    [application.id],
  );
  const rows = z.array(z.looseObject({ id: z.string(), suspended_at: z.unknown() })).parse(found);
  const left = ids.slice(0, 100).filter((_, index) => index !== 5 && index !== 99);
  expect(rows.map(({ id }) => id)).toEqual([...left].sort());
  for (const { id, ...row } of rows) {
    const isBanned = [3, 20, 60].some((index) => ids[index] === id);
    expect(row).toMatchObject({ status: isBanned ? 'banned' : 'unused', subscription_tier: 7, tags: ['a'] });
    if (!isBanned) expect(row.suspended_at).not.toBeNull();
  }
});

test('programs see a change at once, on every instance', async () => {
  const license = await application.mintOne();
  const instances = [server];
  if (onServer()) {
    const other = await startTestServer({ beside: server, env: noLimits });
    onTestFinished(() => other.close());
    instances.push(other);
  }
  const codes = () =>
    Promise.all(
      instances.map(async (instance) => {
        const client = createCallClient(instance, application);
        return (await client.ask('validate', { licenseKey: license.licenseKey, hwid: 'device' })).code;
      }),
    );
  const all = (code: string) => instances.map(() => code);
  expect(await codes()).toEqual(all('OK'));
  await change({ action: 'suspend', filter: {} });
  await vi.waitFor(async () => expect(await codes()).toEqual(all('SUSPENDED')), { timeout: 5_000 });
  await change({ action: 'reinstate', filter: {} });
  await vi.waitFor(async () => expect(await codes()).toEqual(all('OK')), { timeout: 5_000 });
  await change({ action: 'delete', filter: {} });
  await vi.waitFor(async () => expect(await codes()).toEqual(all('LICENSE_NOT_FOUND')), { timeout: 5_000 });
});

test('a bulk change counts towards the licenses that an account changes in a minute', async () => {
  const own = await startTestServer({ env: { RATE_LIMITS: 'licenseRows=3' } });
  onTestFinished(() => own.close());
  const owner = await createWorld(own);
  const { id, mint } = await owner.createApplication();
  await mint({ amount: 2 });
  const path = `/api/v1/apps/${id}/licenses/bulk`;
  const refused = await owner.client.post(path, { action: 'ban', filter: {} });
  expect(expectFailure(refused, 429, 'RATE_LIMITED').error).toContain('change');
  expect((await owner.client.post(path, { action: 'ban', filter: {}, dryRun: true })).status).toBe(200);
});

test('leases end with what ends the right of their licenses, and users outlive their licenses', async () => {
  const keys = await application.mint({ amount: 60 });
  const leased = [keys[1], keys[58]].map((key) => key ?? expect.fail());
  for (const { id } of leased) {
    const body = { deviceRequest: deviceRequestOf(application.id, 'device') };
    expect((await world.client.post(`/api/v1/licenses/${id}/offline-lease`, body)).status).toBe(201);
  }
  const user = { username: 'grace', password: 'a user password', licenseKey: leased[0]?.licenseKey };
  expect((await world.client.post(`/api/v1/apps/${application.id}/users`, user)).status).toBe(201);
  const revoked = () =>
    sql(server, 'SELECT FROM leases WHERE application_id = $1 AND revoked_rev IS NOT NULL', [application.id]);
  await change({ action: 'setTier', filter: {}, params: { subscriptionTier: 1 } });
  expect(await revoked()).toHaveLength(0);
  expect((await change({ action: 'suspend', filter: {} })).changed).toBe(60);
  expect(await revoked()).toHaveLength(2);
  expect((await change({ action: 'delete', filter: {} })).changed).toBe(60);
  const users = await sql(server, 'SELECT username, license_id FROM end_users WHERE application_id = $1', [
    application.id,
  ]);
  expect(users).toEqual([{ username: 'grace', license_id: null }]);
});
