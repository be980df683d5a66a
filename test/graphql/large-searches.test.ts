/** @module-tag slow */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { nearRows } from '../../src/services/list-search.ts';
import { maxCounted } from '../../src/services/list-source.ts';
import { RequestWork, workLimits } from '../../src/services/request-work.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { logStatements, type StatementLog } from '../setup/statements.ts';
import { insertLicenses, insertLogEntries, insertUsers } from './rows.ts';
import { createGraphqlWorld, type GraphqlWorld, noLimits } from './support.ts';

const many = 12_000;
/** It has one connection: what waits for it is heard in order. */
const isEmbedded = process.env.TEST_DATABASE_KIND !== 'server';

let server: TestServer;
let world: GraphqlWorld;
let applicationId: string;
let log: StatementLog;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  log = logStatements(server.deps.services.database.pool);
  world = await createGraphqlWorld(server);
  applicationId = (await world.createApplication()).id;
  const times = <Row>(row: Row): Row[] => Array<Row>(many).fill(row);
  await insertLicenses(server, applicationId, times({ note: 'an order' }));
  await insertUsers(server, applicationId, times({}));
  await insertLogEntries(server, world.developer.id, times({ application_id: applicationId }));
}, 120_000);
afterAll(() => server.close());

/** The service indexes the log every few seconds, by a statement that also has LATERAL, but deletes what it has indexed. */
const searches = (document: string) => document.includes('LATERAL') && !document.includes('DELETE FROM');
const ofApplication = (fields: string) => `{ application(id: "${applicationId}") { ${fields} } }`;
const isOther = (statement: string) => statement.includes('AS somebody_else');

/** Has somebody else ask the database one thing after another, until this is done. */
async function besideOthers<Result>(work: () => Promise<Result>): Promise<Result> {
  let isDone = false;
  const others = (async () => {
    while (!isDone) await server.deps.services.database.pool.query('SELECT 1 AS somebody_else');
  })();
  try {
    return await work();
  } finally {
    isDone = true;
    await others;
  }
}

/** The most statements of searches that came between two of somebody else's. */
const longestRun = (statements: readonly string[]) =>
  Math.max(
    ...statements
      .map((statement) => (isOther(statement) ? '|' : searches(statement) ? 's' : ''))
      .join('')
      .split('|')
      .map(({ length }) => length),
  );

/** Does something before each statement of a search is sent. */
function beforeSearches(work: () => unknown): void {
  const { pool } = server.deps.services.database;
  const connect = pool.connect.bind(pool);
  // A search takes a connection by itself; `pool.query` asks with a callback, and is let through.
  const take = async (...given: unknown[]) => {
    if (given.length > 0) return Reflect.apply(connect, pool, given);
    const client = await connect();
    const { query, release } = client;
    const send = async (...statement: unknown[]) => {
      if (searches(String(statement[0]))) await work();
      return Reflect.apply(query, client, statement);
    };
    const giveBack = (error?: Error | boolean) => {
      Object.assign(client, { query, release });
      release.call(client, error);
    };
    return Object.assign(client, { query: send, release: giveBack });
  };
  const spy = vi.spyOn(pool, 'connect').mockImplementation(take as never);
  onTestFinished(() => spy.mockRestore());
}

describe('of lists of 12,000', () => {
  // How long they may take is told below; a busy machine is not to decide.
  beforeEach(() => {
    const spy = vi.spyOn(RequestWork.prototype, 'hasSpent').mockReturnValue(false);
    return () => spy.mockRestore();
  });

  test.each([
    ['licenses', 'a text without a letter', 'licenses(first: 1, q: "~!")'],
    ['licenses', 'two letters', 'licenses(last: 1, q: "zq")'],
    ['licenses', 'a condition that no index knows', 'licenses(first: 1, filter: { hasHwid: true })'],
    ['users', 'a text without a letter', 'users(first: 1, q: "~!")'],
    ['the log', 'a text without a letter', 'securityLog(first: 1, q: "~!")'],
    ['the log', 'an event that is rare', 'securityLog(last: 1, filter: { events: license_banned })'],
  ])('%s: a search for %s lets others in between its statements', async (_list, _what, field) => {
    log.take();
    const [count, page] = [`${field} { totalCount }`, `${field} { edges { cursor } }`].map(ofApplication);
    const answers = await besideOthers(async () => [
      await world.graphql.ask(count ?? ''),
      await world.graphql.ask(page ?? ''),
    ]);
    const statements = log.take();
    expect(answers.map(({ errors }) => errors)).toEqual([[], []]);
    expect(JSON.stringify(answers[0]?.data)).toContain('"totalCount":0');
    expect(JSON.stringify(answers[1]?.data)).toContain('"edges":[]');
    expect(statements.filter(searches).length).toBeGreaterThanOrEqual(2 * Math.floor(many / nearRows));
    if (isEmbedded) expect(longestRun(statements)).toBeLessThanOrEqual(2);
  });

  test('the searches of one developer leave as much for others in many requests as in one', async () => {
    log.take();
    const document = ofApplication('licenses(first: 1, q: "~!") { totalCount }');
    await besideOthers(() => Promise.all(Array.from({ length: 20 }, () => world.graphql.ask(document))));
    const statements = log.take();
    expect(statements.filter(searches).length).toBeGreaterThan(20);
    if (isEmbedded) expect(longestRun(statements)).toBeLessThanOrEqual(2);
  });

  test('a search of all rows is exact', async () => {
    const { data } = await world.graphql.ask(
      ofApplication(
        'licenses { totalCount totalCountIsExact } users { totalCount } securityLog { totalCount totalCountIsExact }',
      ),
    );
    expect(data).toEqual({
      application: {
        licenses: { totalCount: many, totalCountIsExact: true },
        users: { totalCount: many },
        // The entry of its making among them.
        securityLog: { totalCount: many + 1, totalCountIsExact: true },
      },
    });
  });

  test.each([
    ['licenses(q: "order")', maxCounted, false],
    ['licenses(q: "r")', maxCounted, false],
    ['licenses(filter: { statuses: [unused] })', maxCounted, false],
    ['securityLog(q: "license_validated")', maxCounted, false],
    ['licenses(q: "no such order")', 0, true],
  ])('%s is counted up to 10,000, and says so', async (field, totalCount, totalCountIsExact) => {
    const document = ofApplication(`list: ${field} { totalCount totalCountIsExact }`);
    const answers = [
      await world.graphql.ask(document),
      // From the second time on, the document is kept.
      await world.graphql.ask(document),
    ];
    for (const { data } of answers) {
      expect(data).toEqual({ application: { list: { totalCount, totalCountIsExact } } });
    }
  });

  test('a page of a search continues after the previous one in both directions', async () => {
    const [needle] = await insertLicenses(server, applicationId, [{ note: '~!' }]);
    await insertLicenses(server, applicationId, Array(2_500).fill({ note: 'an order' }));
    const [newer] = await insertLicenses(server, applicationId, [{ note: '~!' }]);
    const idsOf = async (page: string) => {
      const { data } = await world.graphql.ask(
        ofApplication(
          `licenses(${page}, q: "~!") { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage } }`,
        ),
      );
      const { licenses } = z
        .object({
          application: z.object({
            licenses: z.object({
              edges: z.array(z.object({ cursor: z.string(), node: z.object({ id: z.string() }) })),
              pageInfo: z.object({ hasNextPage: z.boolean(), hasPreviousPage: z.boolean() }),
            }),
          }),
        })
        .parse(data).application;
      return { ...licenses, ids: licenses.edges.map(({ node }) => node.id) };
    };
    const first = await idsOf('first: 1');
    expect(first).toMatchObject({ ids: [newer?.id], pageInfo: { hasNextPage: true } });
    const second = await idsOf(`first: 1, after: "${first.edges[0]?.cursor}"`);
    expect(second).toMatchObject({ ids: [needle?.id], pageInfo: { hasNextPage: false } });
    const last = await idsOf('last: 1');
    expect(last).toMatchObject({ ids: [needle?.id], pageInfo: { hasPreviousPage: true } });
    const before = await idsOf(`last: 1, before: "${last.edges[0]?.cursor}"`);
    expect(before).toMatchObject({ ids: [newer?.id], pageInfo: { hasPreviousPage: false } });
  });
});

describe('a search that reads too much', () => {
  /** Has each statement of a search take so many milliseconds more. */
  const delay = 600;
  const slow = () => beforeSearches(() => sleep(delay));
  const refusal = /at least three letters or digits\), narrow the filter, or omit the count/;

  test('is refused after its time limit, together with later searches of the document', async () => {
    slow();
    log.take();
    const document = ofApplication(
      Array.from({ length: 20 }, (_, index) => `a${index}: licenses(first: 1, q: "~?") { totalCount }`).join(
        ' ',
      ),
    );
    const { errors } = await world.graphql.ask(document);
    expect(errors[0]).toMatchObject({
      message: expect.stringMatching(refusal),
      extensions: { code: 'SEARCH_TOO_BROAD' },
    });
    expect(log.take().filter(searches).length).toBeLessThanOrEqual(workLimits.searching / delay + 3);
  });

  test('is refused in REST with the same code', async () => {
    slow();
    const { status, body } = await world.client.get(`/api/v1/apps/${applicationId}/licenses?q=~%3F`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'SEARCH_TOO_BROAD', error: expect.stringMatching(refusal) });
  });

  test('is not started 48 times in one document', async () => {
    log.take();
    const fields = Array.from(
      { length: 48 },
      (_, index) => `a${index}: licenses(first: 1, q: "~!") { totalCount }`,
    );
    const { errors } = await world.graphql.ask(ofApplication(fields.join(' ')));
    expect(errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX' } }]);
    expect(log.take().filter(searches)).toEqual([]);
  });

  test.runIf(process.env.TEST_DATABASE_KIND === 'server')(
    'in one statement is cancelled by the server, with advice',
    async () => {
      beforeSearches(() => server.deps.services.database.pool.query('SELECT pg_sleep(30)'));
      const { status, body } = await world.client.get(`/api/v1/apps/${applicationId}/licenses?q=~%2F`);
      expect([status, body]).toMatchObject([400, { code: 'SEARCH_TOO_BROAD' }]);
    },
  );
});

describe('a search after its client has disconnected', () => {
  test.each([
    [
      'REST',
      (gone: AbortSignal) =>
        world.client.open('GET', `/api/v1/apps/${applicationId}/licenses?q=~%25`, undefined, gone),
    ],
    [
      'GraphQL',
      (gone: AbortSignal) =>
        world.client.open(
          'POST',
          '/graphql',
          { query: ofApplication('licenses(first: 1, q: "~%") { totalCount }') },
          gone,
        ),
    ],
  ])('in %s ends with the statement that is under way', async (_transport, open) => {
    const gone = new AbortController();
    let begun = 0;
    beforeSearches(() => {
      begun += 1;
      gone.abort();
      // A loaded machine may take a while to notice that a connection is closed.
      return sleep(1_000);
    });
    await expect(open(gone.signal)).rejects.toThrow();
    await sleep(2_000);
    expect(begun).toBe(1);
    await vi.waitFor(() => expect(server.deps.services.readTurns.developers).toBe(0), { timeout: 30_000 });
  });
});

test('what a document has begun to search ends when its answer is complete', async () => {
  let begun = 0;
  beforeSearches(async () => {
    begun += 1;
    const isFirst = begun === 1;
    await sleep(50);
    if (isFirst) throw new Error('This list cannot be read.');
  });
  const { errors } = await world.graphql.ask(
    ofApplication(
      'a: licenses(first: 1, q: "~1") { totalCount } b: licenses(first: 1, q: "~2") { totalCount }',
    ),
  );
  expect(errors).toHaveLength(1);
  await sleep(500);
  expect(begun).toBeLessThanOrEqual(3);
});
