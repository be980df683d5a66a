import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import {
  insertApiKeys,
  insertApplications,
  insertBans,
  insertLicenses,
  insertLogEntries,
  insertUsers,
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

// The embedded database is the same engine; twenty thousand rows of each kind would only take longer in it.
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
    await insertLicenses(server, stranger, one({}));
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
    const [text, values] = calls[0] ?? [];
    const rows = await sql(
      server,
      `EXPLAIN (ANALYZE, BUFFERS off, TIMING off, FORMAT JSON) ${String(text)}`,
      z.array(z.unknown()).parse(values),
    );
    return explained.parse(rows)[0]['QUERY PLAN'][0].Plan;
  }

  /** The nodes that read the list, and not what is looked up for each row of it. */
  const nodesOf = (plan: Plan): Plan[] =>
    plan['Parent Relationship'] === 'SubPlan' ? [] : [plan, ...plan.Plans.flatMap(nodesOf)];

  const lists = {
    'an application’s licenses': 'application(id: "APPLICATION") { licenses',
    'an application’s end users': 'application(id: "APPLICATION") { users',
    'an application’s bans': 'application(id: "APPLICATION") { bans',
    'an application’s log': 'application(id: "APPLICATION") { securityLog',
    'a license’s end users': 'license(id: "LICENSE") { users',
    'a license’s bans': 'license(id: "LICENSE") { bans',
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
      const scans = nodes.filter((node) => node['Relation Name'] !== undefined);
      expect(new Set(scans.map((node) => node['Node Type']))).not.toContain('Seq Scan');
      const read = scans.reduce(
        (sum, node) => sum + (node['Actual Rows'] + node['Rows Removed by Filter']) * node['Actual Loops'],
        0,
      );
      expect(read).toBeGreaterThanOrEqual(pageSize);
      // One row more says that there are more; each partition of the log may look at one of its own.
      expect(read).toBeLessThanOrEqual(pageSize + 40);
    });
  });
});
