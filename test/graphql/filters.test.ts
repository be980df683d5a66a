import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sql } from '../setup/stored.ts';
import { forFile, forTest, useServer } from '../setup/use-world.ts';
import type {
  BanFilter,
  EndUserFilter,
  LicenseFilter,
  LicenseStatus,
  SecurityLogFilter,
} from './generated/graphql.ts';
import { insertBans, insertLicenses, insertLogEntries, insertUsers } from './rows.ts';
import { createGraphqlWorld, expectIssues, nobodysId, noLimits } from './support.ts';

const server = useServer({ env: noLimits });
const world = forFile(() => createGraphqlWorld(server));
const application = forTest(() => world.createApplication());

/** The lists that take a filter: where each stands in a document, and the type of its filter. */
const lists = {
  licenses: ['application(id: $id) { list: licenses', 'LicenseFilter', '}'],
  users: ['application(id: $id) { list: users', 'EndUserFilter', '}'],
  bans: ['application(id: $id) { list: bans', 'BanFilter', '}'],
  log: ['application(id: $id) { list: securityLog', 'SecurityLogFilter', '}'],
  usersOfLicense: ['license(id: $id) { list: users', 'EndUserFilter', '}'],
  logOfLicense: ['license(id: $id) { list: securityLog', 'SecurityLogFilter', '}'],
  logOfAccount: ['application(id: $id) { id } me { account { list: securityLog', 'SecurityLogFilter', '} }'],
} as const;

interface Asked {
  readonly id?: string;
  readonly q?: string | null;
  readonly filter?: object | null;
  readonly first?: number;
  readonly after?: string | null;
  readonly last?: number;
  readonly before?: string | null;
}

const ask = (list: keyof typeof lists, asked: Asked) => {
  const [open, filter, close] = lists[list];
  return world.graphql.ask(
    `query ($id: ID!, $q: String, $filter: ${filter}, $first: Int, $after: String, $last: Int, $before: String) {
      ${open}(q: $q, filter: $filter, first: $first, after: $after, last: $last, before: $before) {
        totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { node { id } }
      } ${close} }`,
    { id: application.id, ...asked },
  );
};

const page = z.object({
  totalCount: z.number(),
  pageInfo: z.object({
    hasNextPage: z.boolean(),
    hasPreviousPage: z.boolean(),
    startCursor: z.string().nullable(),
    endCursor: z.string().nullable(),
  }),
  edges: z.array(z.object({ node: z.object({ id: z.string() }) })),
});
const within = z.object({ list: page });
const answered = z.union([
  z.object({ application: within }).transform(({ application: { list } }) => list),
  z.object({ license: within }).transform(({ license: { list } }) => list),
  z.object({ me: z.object({ account: within }) }).transform(({ me: { account } }) => account.list),
]);

async function read(list: keyof typeof lists, asked: Asked = {}) {
  const answer = await ask(list, asked);
  expect(answer.errors).toEqual([]);
  const { edges, ...rest } = answered.parse(answer.data);
  return { ...rest, ids: edges.map(({ node }) => node.id) };
}

/** Holds a list to exactly these rows, newest first, and its count to their number. */
async function expectFound(
  list: keyof typeof lists,
  asked: Asked,
  rows: readonly ({ id: string } | undefined)[],
) {
  const found = await read(list, { first: 200, ...asked });
  const what = JSON.stringify(asked);
  expect(found.ids, what).toEqual(rows.map((row) => row?.id).toReversed());
  expect(found.totalCount, what).toBe(rows.length);
}

describe('licenses', () => {
  test('by current status: an active license past its expiry is only expired', async () => {
    server.clock.hold();
    try {
      const at = (seconds: number) => new Date(server.clock.now() + seconds * 1000).toISOString();
      const activated_at = at(-60);
      const rows = await insertLicenses(server, application.id, [
        { status: 'unused' },
        { status: 'active', activated_at, expires_at: null },
        { status: 'active', activated_at, expires_at: at(10) },
        { status: 'active', activated_at, expires_at: at(0) },
        { status: 'banned', activated_at, expires_at: at(-10) },
      ]);
      const [unused, endless, ending, ended, banned] = rows;
      const by = (...statuses: LicenseStatus[]) => ({ filter: { statuses } satisfies LicenseFilter });
      await expectFound('licenses', by('unused'), [unused]);
      await expectFound('licenses', by('active'), [endless, ending]);
      await expectFound('licenses', by('expired'), [ended]);
      await expectFound('licenses', by('banned'), [banned]);
      await expectFound('licenses', by('banned', 'unused'), [unused, banned]);
      await expectFound('licenses', by('active', 'banned', 'expired', 'unused'), rows);
      await expectFound('licenses', by(), []);
      server.clock.step(10);
      await expectFound('licenses', by('active'), [endless]);
      await expectFound('licenses', by('expired'), [ending, ended]);
    } finally {
      server.clock.step(-10);
      server.clock.release();
    }
  });

  test('by expiry: from an instant on, and before one', async () => {
    const [second, at] = [1000, Date.parse('2027-03-01T00:00:00.000Z')];
    const ends = (milliseconds: number | null) => ({
      status: 'active' as const,
      activated_at: '2027-01-01T00:00:00.000Z',
      expires_at: milliseconds === null ? null : new Date(milliseconds).toISOString(),
    });
    const rows = await insertLicenses(server, application.id, [
      ends(at - 1),
      ends(at),
      ends(at + second),
      ends(null),
      {},
    ]);
    const [before, exactly, after] = rows;
    const instant = (milliseconds: number) => new Date(milliseconds).toISOString();
    const by = (filter: LicenseFilter) => ({ filter });
    await expectFound('licenses', by({ expiresFrom: instant(at) }), [exactly, after]);
    await expectFound('licenses', by({ expiresBefore: instant(at) }), [before]);
    const range = { expiresFrom: instant(at), expiresBefore: instant(at + second) };
    await expectFound('licenses', by(range), [exactly]);
    await expectFound('licenses', by({ expiresFrom: instant(at), expiresBefore: instant(at) }), []);
    await expectFound('licenses', by({ expiresFrom: '0000-01-01T00:00:00Z' }), [before, exactly, after]);
    await expectFound('licenses', by({ expiresBefore: '9999-12-31T23:59:59.999Z' }), [
      before,
      exactly,
      after,
    ]);
  });

  test('by tier and by device, with and without a search', async () => {
    const rows = await insertLicenses(server, application.id, [
      { subscription_tier: 0, hwid: null, note: 'wanted' },
      { subscription_tier: 1, hwid: 'device', note: 'wanted' },
      { subscription_tier: 2, hwid: 'device' },
      { subscription_tier: 2, hwid: null, note: 'wanted' },
    ]);
    const [free, bound, other, highest] = rows;
    const by = (filter: LicenseFilter, q?: string) => ({ filter, q: q ?? null });
    await expectFound('licenses', by({ subscriptionTiers: [2] }), [other, highest]);
    await expectFound('licenses', by({ subscriptionTiers: [0, 1, 2_147_483_647] }), [free, bound]);
    await expectFound('licenses', by({ subscriptionTiers: [] }), []);
    await expectFound('licenses', by({ hasHwid: true }), [bound, other]);
    await expectFound('licenses', by({ hasHwid: false }), [free, highest]);
    await expectFound('licenses', by({ subscriptionTiers: [1, 2], hasHwid: false }, 'WANT'), [highest]);
    await expectFound('licenses', by({ statuses: ['unused'], hasHwid: true }, 'wanted'), [bound]);
    await expectFound('licenses', by({ statuses: ['active'], hasHwid: true }, 'wanted'), []);
    const nulls = {
      statuses: null,
      subscriptionTiers: null,
      hasHwid: null,
      expiresFrom: null,
      expiresBefore: null,
    };
    await expectFound('licenses', by(nulls), rows);
    await expectFound('licenses', { filter: null, q: null }, rows);
  });

  test.each<[string, LicenseFilter, (string | number)[]]>([
    ['a negative tier', { subscriptionTiers: [1, -1] }, ['subscriptionTiers', 1]],
    ['101 tiers', { subscriptionTiers: Array(101).fill(1) }, ['subscriptionTiers']],
    ['a status six times', { statuses: Array(6).fill('active') }, ['statuses']],
  ])('refuse %s and say where', async (_what, filter, path) => {
    expectIssues(await ask('licenses', { filter }), [path]);
  });

  test.each([
    'yesterday',
    '2027-03-01',
    '2027-03-01T00:00:00',
    '2027-03-01T00:00:00+01:00',
    '2027-02-30T00:00:00Z',
  ])('refuse %j as an instant', async (expiresFrom) => {
    const answer = await ask('licenses', { filter: { expiresFrom } });
    expect(answer.data).toBeUndefined();
    expect(answer.codes).toEqual(['BAD_REQUEST']);
    expect(answer.errors[0]?.message).toContain('must be an ISO 8601 instant in UTC');
  });
});

describe('end users', () => {
  test('by license, its tier, and device, in an application and in a license', async () => {
    const [low, high] = await insertLicenses(server, application.id, [
      { subscription_tier: 1 },
      { subscription_tier: 9 },
    ]);
    const users = await insertUsers(server, application.id, [
      { username: 'nobody' },
      { username: 'ada', license_id: low?.id ?? null, last_hwid: 'device' },
      { username: 'grace', license_id: high?.id ?? null },
      { username: 'Adam', license_id: high?.id ?? null, last_hwid: 'device' },
    ]);
    const [nobody, ada, grace, adam] = users;
    const by = (filter: EndUserFilter, q?: string) => ({ filter, q: q ?? null });
    await expectFound('users', by({ hasLicense: true }), [ada, grace, adam]);
    await expectFound('users', by({ hasLicense: false }), [nobody]);
    await expectFound('users', by({ subscriptionTiers: [9] }), [grace, adam]);
    await expectFound('users', by({ subscriptionTiers: [1, 9] }), [ada, grace, adam]);
    await expectFound('users', by({ subscriptionTiers: [] }), []);
    await expectFound('users', by({ hasHwid: true }), [ada, adam]);
    await expectFound('users', by({ hasHwid: false }), [nobody, grace]);
    await expectFound('users', by({ hasLicense: true, hasHwid: true, subscriptionTiers: [9] }), [adam]);
    await expectFound('users', by({ hasHwid: true }, 'ADA'), [ada, adam]);
    await expectFound('users', by({ hasLicense: false, subscriptionTiers: [1] }), []);
    await expectFound('users', by({ hasLicense: null, hasHwid: null, subscriptionTiers: null }), users);
    const id = high?.id ?? '';
    await expectFound('usersOfLicense', { id }, [grace, adam]);
    await expectFound('usersOfLicense', { id, filter: { hasHwid: true } }, [adam]);
    await expectFound('usersOfLicense', { id, q: 'ace' }, [grace]);
    await expectFound('usersOfLicense', { id, filter: { subscriptionTiers: [1] } }, []);
  });
});

describe('bans', () => {
  test('by type and value, with a search', async () => {
    const bans = await insertBans(server, application.id, [
      { ban_type: 'hwid', value: 'Device-1' },
      { ban_type: 'ip', value: '203.0.113.1' },
      { ban_type: 'hwid', value: '100%_sure\\' },
    ]);
    const [device, address, odd] = bans;
    const by = (filter: BanFilter, q?: string) => ({ filter, q: q ?? null });
    await expectFound('bans', by({ banType: 'hwid' }), [device, odd]);
    await expectFound('bans', by({ banType: 'ip' }), [address]);
    await expectFound('bans', by({ banType: null }), bans);
    await expectFound('bans', by({}, '1'), bans);
    await expectFound('bans', by({ banType: 'hwid' }, 'DEVICE'), [device]);
    await expectFound('bans', by({ banType: 'ip' }, 'DEVICE'), []);
    for (const q of ['%', '_', '\\', '0%_s']) await expectFound('bans', by({}, q), [odd]);
    await expectFound('bans', by({}, "'"), []);
  });
});

describe('the security log', () => {
  test('by event, code, license, user and time, for an application, a license and the account', async () => {
    const [license, another] = await insertLicenses(server, application.id, [{}, {}]);
    const [user] = await insertUsers(server, application.id, [{}]);
    const at = server.clock.now();
    const instant = (milliseconds: number) => new Date(at + milliseconds).toISOString();
    const about = { application_id: application.id, license_id: license?.id ?? null };
    const rows = await insertLogEntries(server, world.developer.id, [
      { ...about, code: 'OK', created_at: instant(-1), hwid: 'device' },
      { ...about, code: 'EXPIRED', created_at: instant(0) },
      {
        ...about,
        event: 'user_logged_in',
        user_id: user?.id ?? null,
        license_id: another?.id ?? null,
        created_at: instant(1000),
      },
    ]);
    const [ok, expired, login] = rows;
    const events: SecurityLogFilter['events'] = ['license_validated', 'user_logged_in'];
    const by = (filter: SecurityLogFilter, q?: string) => ({ filter: { events, ...filter }, q: q ?? null });
    await expectFound('log', by({}), rows);
    await expectFound('log', by({ events: ['user_logged_in'] }), [login]);
    await expectFound('log', by({ events: [] }), []);
    await expectFound('log', by({ codes: ['OK'] }), [ok, login]);
    await expectFound('log', by({ codes: ['EXPIRED', 'NO_SUCH'] }), [expired]);
    await expectFound('log', by({ codes: [] }), []);
    await expectFound('log', by({ licenseId: license?.id ?? '' }), [ok, expired]);
    await expectFound('log', by({ licenseId: nobodysId }), []);
    await expectFound('log', by({ userId: user?.id ?? '' }), [login]);
    await expectFound('log', by({ createdFrom: instant(0) }), [expired, login]);
    await expectFound('log', by({ createdBefore: instant(0) }), [ok]);
    await expectFound('log', by({ createdFrom: instant(0), createdBefore: instant(1000) }), [expired]);
    await expectFound('log', by({ createdFrom: '0000-01-01T00:00:00Z' }), rows);
    await expectFound('log', by({ createdBefore: '9999-12-31T23:59:59.999Z' }), rows);
    await expectFound('log', by({ codes: ['OK'] }, 'DEVICE'), [ok]);
    const id = license?.id ?? '';
    await expectFound('logOfLicense', { id }, [ok, expired]);
    await expectFound('logOfLicense', { id, filter: { codes: ['OK'] } }, [ok]);
    await expectFound('logOfLicense', { id, q: 'expir' }, [expired]);
    await expectFound('logOfLicense', { id, filter: { licenseId: another?.id } }, []);
    await expectFound('logOfAccount', by({ userId: user?.id ?? '' }), [login]);
    await expectFound('logOfAccount', { filter: { licenseId: id, createdFrom: instant(0) } }, [expired]);
  });

  test.each<[string, SecurityLogFilter, (string | number)[]]>([
    ['a license that is no UUID', { licenseId: 'no-uuid' }, ['licenseId']],
    ['a user that is no UUID', { userId: '' }, ['userId']],
    ['an empty verdict', { codes: ['OK', ''] }, ['codes', 1]],
    ['51 verdicts', { codes: Array(51).fill('OK') }, ['codes']],
    ['NUL in a verdict', { codes: ['\0'] }, ['codes', 0]],
  ])('refuses %s and says where', async (_what, filter, path) => {
    for (const list of ['log', 'logOfAccount'] as const) expectIssues(await ask(list, { filter }), [path]);
  });
});

const restPages = {
  users: z.object({ users: z.array(z.object({ id: z.string() })) }).transform(({ users }) => users),
  logs: z.object({ logs: z.array(z.object({ id: z.string() })) }).transform(({ logs }) => logs),
};

describe('a search finds the same as REST', () => {
  const searches = [
    '',
    'a',
    'A',
    '%',
    '_',
    '\\',
    "'",
    '"',
    '%_',
    '\\%',
    'a%b',
    'device',
    'ÄÖ',
    'zz',
    '203.0',
    ';--',
  ];
  const hwids = ['a%b', 'A_b', 'back\\slash', "quote'", 'Device "9"', 'äö', 'DEVICE;--', null];

  async function expectSame(list: 'users' | 'log', path: 'users' | 'logs') {
    let most = 0;
    for (const q of searches) {
      const search = new URLSearchParams({ q, limit: '200' });
      const rest = await world.client.get(`/api/v1/apps/${application.id}/${path}?${search}`);
      const ids = restPages[path].parse(rest.body).map(({ id }) => id);
      const found = await read(list, { q, first: 200 });
      expect(found.ids, q).toEqual(ids);
      expect(found.totalCount, q).toBe(ids.length);
      if (q !== '' && q !== 'zz') most = Math.max(most, ids.length);
    }
    expect(most).toBeGreaterThan(0);
  }

  test('of end users', async () => {
    await insertUsers(
      server,
      application.id,
      hwids.map((last_hwid) => ({ last_hwid })),
    );
    await expectSame('users', 'users');
    expect((await read('users', { q: 'a%b' })).totalCount).toBe(1);
  });

  test('of the log', async () => {
    const entries = hwids.map((hwid) => ({ application_id: application.id, hwid }));
    await insertLogEntries(server, world.developer.id, entries);
    await expectSame('log', 'logs');
    expect((await read('log', { q: 'a%b' })).totalCount).toBe(1);
  });
});

describe('pages of filtered lists', () => {
  const filter: LicenseFilter = { hasHwid: true };
  const mixed = () =>
    Array.from({ length: 14 }, (_, index) => ({ hwid: index % 2 === 0 ? `device ${index}` : null }));

  test('go in both directions, and are stable while licenses are added and deleted', async () => {
    const rows = (await insertLicenses(server, application.id, mixed())).filter(({ hwid }) => hwid !== null);
    const ids = rows.map(({ id }) => id).reverse();
    const first = await read('licenses', { filter, first: 3 });
    expect(first).toMatchObject({
      ids: ids.slice(0, 3),
      totalCount: 7,
      pageInfo: { hasNextPage: true, hasPreviousPage: false },
    });
    const added = await insertLicenses(server, application.id, [{ hwid: 'new' }, {}]);
    // The row that the page ended at is gone, and one before it, and one of the next page.
    await sql(server, 'DELETE FROM licenses WHERE id = ANY($1::uuid[])', [[ids[1], ids[2], ids[3]]]);
    const second = await read('licenses', { filter, first: 2, after: first.pageInfo.endCursor });
    expect(second).toMatchObject({
      ids: ids.slice(4, 6),
      totalCount: 5,
      pageInfo: { hasNextPage: true, hasPreviousPage: true },
    });
    const third = await read('licenses', { filter, first: 2, after: second.pageInfo.endCursor });
    expect(third).toMatchObject({ ids: ids.slice(6), pageInfo: { hasNextPage: false } });
    const back = await read('licenses', { filter, last: 5, before: second.pageInfo.startCursor });
    expect(back).toMatchObject({
      ids: [added[0]?.id, ids[0]],
      pageInfo: { hasNextPage: true, hasPreviousPage: false },
    });
    const oldest = await read('licenses', { filter, last: 2 });
    expect(oldest).toMatchObject({
      ids: ids.slice(5),
      pageInfo: { hasNextPage: false, hasPreviousPage: true },
    });
  });

  test('end exactly at the last match', async () => {
    await insertLicenses(server, application.id, mixed());
    const whole = await read('licenses', { filter, first: 7 });
    expect(whole).toMatchObject({ totalCount: 7, pageInfo: { hasNextPage: false } });
    expect(whole.ids).toHaveLength(7);
    const none = await read('licenses', { filter: { hasHwid: true, subscriptionTiers: [5] }, first: 1 });
    expect(none).toEqual({
      ids: [],
      totalCount: 0,
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
  });
});
