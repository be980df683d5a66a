/** @module-tag slow */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { buildIndexes } from '../../src/db/build-indexes.ts';
import { buildFilterIndexes, listIndexes } from '../../src/db/list-indexes.ts';
import { buildSearchIndexes, tidySearchIndexes } from '../../src/db/search-indexes.ts';
import { newId } from '../../src/lib/ids.ts';
import { nearRows } from '../../src/services/list-search.ts';
import { openEventStream } from '../setup/event-stream.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { recordCalls } from '../setup/statements.ts';
import { sql } from '../setup/stored.ts';
import { MetricsHistoryDocument } from './generated/graphql.ts';
import {
  insertApiKeys,
  insertApplications,
  insertBans,
  insertDevices,
  insertLicenses,
  insertLogEntries,
  insertUsers,
  type LicenseRow,
  type LogEntryRow,
} from './rows.ts';
import { createGraphqlWorld, type GraphqlWorld, noLimits } from './support.ts';

/** A list that is longer than any page by far. */
const many = 20_000;
const pageSize = 50;

type Plan = z.infer<typeof planSchema>;
const planSchema = z.looseObject({
  'Node Type': z.string(),
  'Index Name': z.string().optional(),
  'Relation Name': z.string().optional(),
  'Parent Relationship': z.string().optional(),
  'Actual Rows': z.number(),
  'Actual Loops': z.number(),
  'Rows Removed by Filter': z.number().default(0),
  get Plans() {
    return z.array(planSchema).default([]);
  },
});
const explained = z.tuple([z.object({ 'QUERY PLAN': z.tuple([z.object({ Plan: planSchema })]) })]);

/** The nodes that read the list, and not what is looked up for each row of it. */
const nodesOf = (plan: Plan): Plan[] =>
  plan['Parent Relationship'] === 'SubPlan' ? [] : [plan, ...plan.Plans.flatMap(nodesOf)];

/** How many rows were looked at, those among them that were not answered. */
const rowsRead = (nodes: readonly Plan[]): number =>
  nodes
    .filter((node) => node['Relation Name'] !== undefined)
    .reduce(
      (sum, node) => sum + (node['Actual Rows'] + node['Rows Removed by Filter']) * node['Actual Loops'],
      0,
    );

async function explain(server: TestServer, [text, values]: readonly unknown[]): Promise<Plan> {
  const statement = `EXPLAIN (ANALYZE, BUFFERS off, TIMING off, FORMAT JSON) ${String(text)}`;
  const rows = await sql(server, statement, z.array(z.unknown()).parse(values));
  return explained.parse(rows)[0]['QUERY PLAN'][0].Plan;
}

// The embedded database is the same engine; twenty thousand rows of each kind would only take longer in it.
describe.runIf(process.env.TEST_DATABASE_KIND === 'server')('a stream that goes on in a log', () => {
  test('reads over nothing of other applications, though nearly all of the log was its own', async () => {
    const server = await startTestServer({ env: noLimits });
    onTestFinished(() => server.close());
    const world = await createGraphqlWorld(server);
    const applicationId = (await world.createApplication()).id;
    const other = (await world.createApplication()).id;
    const entries = (application_id: string, amount: number) =>
      insertLogEntries(server, world.developer.id, Array<LogEntryRow>(amount).fill({ application_id }));
    await entries(applicationId, many);
    await sql(server, 'ANALYZE security_log');
    const [seen] = await entries(applicationId, 10);
    await entries(other, many);

    const spy = vi.spyOn(server.deps.services.database.pool, 'query');
    const stream = await openEventStream(world.client, {
      query: `subscription { securityLog(applicationId: "${applicationId}", after: "${seen?.id}", codes: ["OK"]) { id } }`,
    });
    onTestFinished(() => stream.close());
    expect(await stream.take(9)).toHaveLength(9);
    const sent: unknown[][] = spy.mock.calls;
    const reading = sent.filter(([text]) => /FROM security_log\s+WHERE application_id/.test(String(text)));
    expect(reading.length).toBeGreaterThanOrEqual(2);
    for (const call of reading) expect(rowsRead(nodesOf(await explain(server, call)))).toBeLessThan(100);
  }, 120_000);
});

describe.runIf(process.env.TEST_DATABASE_KIND === 'server')('a page of a list of 20,000', () => {
  let server: TestServer;
  let world: GraphqlWorld;
  const ids = { application: '', license: '' };
  beforeAll(async () => {
    server = await startTestServer({ env: noLimits });
    world = await createGraphqlWorld(server);
    const developerId = world.developer.id;
    ids.application = (await world.createApplication()).id;
    const one = <Row>(row: Row): Row[] => Array<Row>(many).fill(row);
    // What lies between the rows of a list is not its own: a plan that walks over it reads too much.
    const stranger = (await world.createApplication()).id;
    ids.license = (await insertLicenses(server, ids.application, [{}]))[0]?.id ?? '';
    await insertLicenses(server, ids.application, one({}));
    await insertUsers(server, ids.application, one({ license_id: ids.license }));
    await insertBans(server, ids.application, one({ source_license_id: ids.license }));
    await insertLogEntries(
      server,
      developerId,
      one({ application_id: ids.application, license_id: ids.license }),
    );
    await insertDevices(server, one({ license_id: ids.license }));
    const foreign = await insertLicenses(server, stranger, one({}));
    await insertDevices(
      server,
      foreign.map(({ id }) => ({ license_id: id })),
    );
    await insertUsers(server, stranger, one({}));
    await insertBans(server, stranger, one({}));
    await insertApiKeys(server, developerId, many);
    await insertApplications(server, developerId, many);
    const other = await createGraphqlWorld(server);
    await insertLogEntries(server, other.developer.id, one({}));
    await insertApiKeys(server, other.developer.id, many);
    await insertApplications(server, other.developer.id, many);
    await sql(server, 'ANALYZE');
  }, 120_000);
  afterAll(() => server.close());

  /** Asks for a page, and explains the one statement that reads it. */
  async function planOf(list: string, page: string): Promise<Plan> {
    const { pool } = server.deps.services.database;
    const spy = vi.spyOn(pool, 'query');
    const answer = await world.graphql.ask(document(list, page));
    const sent: unknown[][] = spy.mock.calls;
    const calls = sent.filter(([text]) => String(text).includes('LATERAL'));
    spy.mockRestore();
    expect(answer.errors).toEqual([]);
    expect(JSON.stringify(answer.data).match(/"node":/g)).toHaveLength(pageSize);
    expect(calls).toHaveLength(1);
    return explain(server, calls[0] ?? []);
  }

  const lists = {
    'an application’s licenses': 'application(id: "APPLICATION") { licenses',
    'an application’s end users': 'application(id: "APPLICATION") { users',
    'an application’s bans': 'application(id: "APPLICATION") { bans',
    'an application’s log': 'application(id: "APPLICATION") { securityLog',
    'a license’s end users': 'license(id: "LICENSE") { users',
    'a license’s bans': 'license(id: "LICENSE") { bans',
    'a license’s devices': 'license(id: "LICENSE") { devices',
    'a license’s log': 'license(id: "LICENSE") { securityLog',
    'a developer’s applications': 'me { applications',
    'an account’s API keys': 'me { account { apiKeys',
    'an account’s log': 'me { account { securityLog',
  };
  const document = (list: string, page: string) => {
    const open = list.replace('APPLICATION', ids.application).replace('LICENSE', ids.license);
    return `{ ${open}(${page}) { edges { cursor node { id } } } ${open.replace(/[^{]/g, '').replaceAll('{', '}')} }`;
  };
  /** The cursor of a row that is neither among the newest nor among the oldest. */
  const innerCursor = async (list: string) => {
    const answer = await world.graphql.ask(document(list, 'first: 200'));
    return /.*"cursor":"([^"]+)"/.exec(JSON.stringify(answer.data))?.[1];
  };

  describe.each(Object.entries(lists))('%s', (_what, list) => {
    test.each([
      ['of the newest', `first: ${pageSize}`],
      ['onward from a cursor', `first: ${pageSize}, after: "CURSOR"`],
      ['of the oldest', `last: ${pageSize}`],
      ['back from a cursor', `last: ${pageSize}, before: "CURSOR"`],
    ])('%s reads an index, and no more rows than it answers', async (_where, page) => {
      const cursor = (await innerCursor(list)) ?? '';
      const nodes = nodesOf(await planOf(list, page.replace('CURSOR', cursor)));
      expect(new Set(nodes.map((node) => node['Node Type']))).not.toContain('Seq Scan');
      const read = rowsRead(nodes);
      expect(read).toBeGreaterThanOrEqual(pageSize);
      // One row more says that there are more; each partition of the log may look at one of its own.
      expect(read).toBeLessThanOrEqual(pageSize + 40);
    });
  });
});

describe.runIf(process.env.TEST_DATABASE_KIND === 'server')('of 20,000 licenses and end users', () => {
  let server: TestServer;
  let world: GraphqlWorld;
  let applicationId: string;
  const policyId = newId();
  beforeAll(async () => {
    server = await startTestServer({ env: noLimits });
    world = await createGraphqlWorld(server);
    applicationId = (await world.createApplication()).id;
    const stranger = (await world.createApplication()).id;
    const named = (amount: number, name: (index: number) => string) =>
      Array.from({ length: amount }, (_, index) => ({ username: name(index) }));
    const included = { tags: ['rare'], metadata: { private: { order: 1001 } } };
    await insertLicenses(server, applicationId, [{ ...included, policy_id: policyId }]);
    await insertLicenses(server, applicationId, [
      { note: 'the rare quokka' },
      { subscription_tier: 9 },
      { status: 'banned' },
    ]);
    await insertUsers(
      server,
      applicationId,
      named(1, () => 'quokka'),
    );
    const licenses = Array.from({ length: many }, (_, index) => ({ note: `order ${index}` }));
    const [oldest] = await insertLicenses(server, applicationId, licenses);
    await insertDevices(server, [
      { license_id: oldest?.id ?? '', hwid: 'quokka-4e98' },
      { license_id: oldest?.id ?? '', hwid: 'quokka-0998' },
    ]);
    await insertUsers(
      server,
      applicationId,
      named(many, (index) => `order.${index}`),
    );
    // What is rare here is everywhere else.
    const foreign = await insertLicenses(
      server,
      stranger,
      Array<LicenseRow>(many).fill({ note: 'quokka', subscription_tier: 9, ...included, policy_id: newId() }),
    );
    await insertDevices(
      server,
      foreign.map(({ id }) => ({ license_id: id })),
    );
    await insertUsers(
      server,
      stranger,
      named(many, (index) => `quokka.${index}`),
    );
    const otherIndexes = [
      'licenses_search_idx',
      'end_users_search_idx',
      'licenses_tags_idx',
      'licenses_metadata_idx',
    ];
    // Both at the start of a service, when there is nothing yet, and here, so that they are waited for.
    const { pool } = server.deps.services.database;
    await vi.waitFor(
      async () => {
        await buildSearchIndexes(pool, server.deps.log);
        await buildIndexes(pool, listIndexes);
        await buildFilterIndexes(pool);
        const built = await sql(
          server,
          `SELECT FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indisvalid
           AND relname = ANY($1)`,
          [[...listIndexes.map(({ name }) => name), ...otherIndexes]],
        );
        expect(built).toHaveLength(listIndexes.length + otherIndexes.length);
      },
      { timeout: 60_000 },
    );
    // As maintenance does each minute: what is not sorted in yet, every search would read.
    await tidySearchIndexes(pool);
    await sql(server, 'ANALYZE');
  }, 180_000);
  afterAll(() => server.close());

  /** Asks for a page, and explains the statements that read it, of which there are so many. */
  async function planOf(ask: () => Promise<number>, found: number, statements = 1): Promise<Plan[]> {
    const { sent, stop } = recordCalls(server.deps.services.database.pool);
    expect(await ask()).toBe(found);
    const calls = sent.filter(([text]) => /LATERAL|candidate/.test(String(text)));
    stop();
    expect(calls).toHaveLength(statements);
    const plans: Plan[] = [];
    for (const call of calls) plans.push(await explain(server, call));
    return plans.flatMap(nodesOf);
  }
  const rest = (list: 'licenses' | 'users', q: string) => async () => {
    const { body } = await world.client.get(
      `/api/v1/apps/${applicationId}/${list}?q=${encodeURIComponent(q)}`,
    );
    return z.looseObject({ [list]: z.array(z.unknown()) }).parse(body)[list]?.length ?? 0;
  };
  const filtered = (filter: string) => async () => {
    const { data } = await world.graphql.ask(
      `{ application(id: "${applicationId}") { licenses(first: 50, filter: ${filter}) { edges { node { id } } } } }`,
    );
    return JSON.stringify(data).match(/"node":/g)?.length ?? 0;
  };

  describe.each(['licenses', 'users'] as const)('a search of %s', (list) => {
    test.each([
      ['ORDER', 50],
      ['er', 50],
    ])('for the common %j reads the newest alone', async (q, found) => {
      expect(rowsRead(await planOf(rest(list, q), found))).toBeLessThanOrEqual(200);
    });

    test.each([
      ['quokka', 1],
      ['rare'.repeat(5), 0],
    ])('for the rare %j reads the nearest, and what an index finds', async (q, found) => {
      const nodes = await planOf(rest(list, q), found, 2);
      expect(nodes.map((node) => node['Index Name'])).toContain(
        list === 'licenses' ? 'licenses_search_idx' : 'end_users_search_idx',
      );
      // The nearest twice: their edge is looked for too.
      expect(rowsRead(nodes)).toBeLessThanOrEqual(2 * nearRows + 20);
    });
  });

  test('a search for a complete HWID finds the license of one of several devices by its index', async () => {
    const nodes = await planOf(rest('licenses', 'quokka-0998'), 1, 2);
    const indexes = nodes.map((node) => node['Index Name']);
    expect(indexes).toContain('devices_hwid_idx');
    expect(indexes).toContain('licenses_pkey');
    expect(rowsRead(nodes)).toBeLessThanOrEqual(2 * nearRows + 20);
  });

  test.each([
    ['{ statuses: [banned] }', 1],
    ['{ subscriptionTiers: [9] }', 1],
    [`{ policyId: "${policyId}" }`, 1],
    [`{ policyId: "${policyId}", statuses: [active] }`, 0],
  ])('the few of %s are read by an index of theirs', async (filter, found) => {
    expect(rowsRead(await planOf(filtered(filter), found))).toBeLessThanOrEqual(20);
  });

  test.each([
    ['{ tag: "rare" }', 'licenses_tags_idx'],
    ['{ metadata: [{ name: "order", value: "1001" }] }', 'licenses_metadata_idx'],
  ])('the one of %s is found by an index, though others have it everywhere', async (filter, index) => {
    const nodes = await planOf(filtered(filter), 1, 2);
    expect(nodes.map((node) => node['Index Name'])).toContain(index);
    expect(rowsRead(nodes)).toBeLessThanOrEqual(2 * nearRows + 20);
  });

  test('metrics read no license, and of the log no more than a minute', async () => {
    await insertLogEntries(
      server,
      world.developer.id,
      Array<LogEntryRow>(many).fill({ application_id: applicationId }),
    );
    const spy = vi.spyOn(server.deps.services.database.pool, 'query');
    const { body } = await world.client.get('/api/v1/metrics/overview');
    const sent: unknown[][] = spy.mock.calls;
    const calls = sent.filter(([text]) => /license_counts|validation_counts/.test(String(text)));
    spy.mockRestore();
    expect(body).toMatchObject({
      metrics: {
        licenses: { total: 2 * many + 4, unused: 2 * many + 3, banned: 1 },
        validations24h: { total: many, byCode: { OK: many } },
      },
    });
    expect(calls).toHaveLength(2);
    for (const call of calls) expect(rowsRead(nodesOf(await explain(server, call)))).toBeLessThan(200);
  });

  test('a history of metrics takes four statements, which read no license and no entry of the log', async () => {
    await sql(
      server,
      `INSERT INTO events (id, developer_id, application_id, type, subject_kind, data, created_at)
       SELECT gen_random_uuid(), $1, $2, CASE WHEN n < 10 THEN 'license.activated' ELSE 'license.created' END,
         'license', '{}', now() FROM generate_series(1, $3::int) AS n`,
      [world.developer.id, applicationId, many],
    );
    await sql(server, 'ANALYZE events');
    const { sent, stop } = recordCalls(server.deps.services.database.pool);
    const answer = await world.graphql.request(MetricsHistoryDocument, { period: 'month', applicationId });
    stop();
    expect(answer.errors).toEqual([]);
    const count = (all: readonly { count: number }[] = []) => all.reduce((sum, { count }) => sum + count, 0);
    expect(count(answer.data?.metricsHistory?.activations)).toBe(9);
    const calls = sent.filter(([text]) => /license_counts|validation_counts/.test(String(text)));
    expect(calls).toHaveLength(3);
    for (const call of calls) expect(rowsRead(nodesOf(await explain(server, call)))).toBeLessThan(200);
  });
});
