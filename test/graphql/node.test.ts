import { isInterfaceType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { logStatements } from '../setup/statements.ts';
import { sql } from '../setup/stored.ts';
import { bushOf, committed, typeOf } from './documents.ts';
import { createFullAccount, type FullAccount } from './full-account.ts';
import { insertLicenses } from './rows.ts';
import { expectBadRequest, expectRefused, nobodysId, noLimits, visitor } from './support.ts';

let server: TestServer;
let owner: FullAccount;
let stranger: FullAccount;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  owner = await createFullAccount(server);
  stranger = await createFullAccount(server);
});
afterAll(() => server.close());

const query = 'query ($id: ID!) { node(id: $id) { id __typename } }';

/** An id of each type that implements Node. */
async function idsOf({ developer, ids }: FullAccount): Promise<Record<string, string>> {
  const entry = 'SELECT id FROM security_log WHERE developer_id = $1 ORDER BY id LIMIT 1';
  const [row] = z.array(z.object({ id: z.string() })).parse(await sql(server, entry, [developer.id]));
  return {
    AccountSession: ids.session,
    ApiKey: ids.key,
    Application: ids.application,
    Ban: ids.ban,
    Developer: developer.id,
    Device: ids.device,
    EndUser: ids.user,
    License: ids.license,
    Policy: ids.policy,
    SecurityLogEntry: row?.id ?? '',
    Webhook: ids.webhook,
    WebhookDelivery: ids.delivery,
  };
}

test('every type that implements Node is found by its id', async () => {
  const node = committed.getType('Node');
  const types = isInterfaceType(node) ? committed.getPossibleTypes(node).map(({ name }) => name) : [];
  const ids = await idsOf(owner);
  expect(Object.keys(ids)).toEqual([...types].sort());
  for (const [type, id] of Object.entries(ids)) {
    const answer = await owner.graphql.ask(query, { id });
    expect(answer.errors).toEqual([]);
    expect(answer.data).toEqual({ node: { id, __typename: type } });
  }
});

test("another developer's is null, as what does not exist and what is no id", async () => {
  const foreign = Object.values(await idsOf(stranger));
  for (const id of [...foreign, nobodysId, nobodysId.toUpperCase(), 'garbage', '', 'a\0b']) {
    const answer = await owner.graphql.ask(query, { id });
    expect(answer.errors).toEqual([]);
    expect(answer.data).toEqual({ node: null });
  }
});

test('only developers may ask, and nobody else learns whether an id exists', async () => {
  for (const id of [owner.ids.license, nobodysId, 'garbage']) {
    expectRefused(await visitor(server).ask(query, { id }), 'UNAUTHENTICATED');
  }
});

describe('what a node tells', () => {
  test.each([
    ['license', 'License', ({ licenses }: FullAccount) => licenses.expired.id],
    ['endUser', 'EndUser', ({ ids }: FullAccount) => ids.user],
    ['application', 'Application', ({ ids }: FullAccount) => ids.application],
  ])('is what %s tells of it, with its relations', async (field, type, idOf) => {
    const bush = bushOf(typeOf(`Query.${field}`), 1);
    const variables = { id: idOf(owner) };
    const known = await owner.graphql.ask(
      `query ($id: ID!) { it: ${field}(id: $id) { ${bush} } }`,
      variables,
    );
    const documents = [
      `query ($id: ID!) { it: node(id: $id) { ... on ${type} { ${bush} } } }`,
      `query ($id: ID!) { it: node(id: $id) { ...F } } fragment F on ${type} { ${bush} }`,
    ];
    expect(known.errors).toEqual([]);
    for (const document of documents) {
      const answer = await owner.graphql.ask(document, variables);
      expect(answer.errors).toEqual([]);
      expect(answer.data).toEqual(known.data);
    }
  });

  test('is asked for by aliases of several types in one document', async () => {
    const answer = await owner.graphql.ask(
      `query ($license: ID!, $key: ID!) {
        a: node(id: $license) { ... on License { status } ... on ApiKey { name } }
        b: node(id: $key) { id ... on License { status } ... on ApiKey { revoked } }
        c: node(id: $license) { ... on EndUser { username } }
        d: node(id: $license) { id }
      }`,
      { license: owner.licenses.expired.id, key: owner.ids.key },
    );
    expect(answer.errors).toEqual([]);
    expect(answer.data).toEqual({
      a: { status: 'expired' },
      b: { id: owner.ids.key, revoked: false },
      c: {},
      d: { id: owner.licenses.expired.id },
    });
  });

  test('is of its own type each time that one document is sent with the id of another type', async () => {
    const document = `query ($id: ID!) { node(id: $id) {
      ... on License { keyPrefix tier: subscriptionTier } ... on Application { name } ... on EndUser { username } } }`;
    const { license, application, user } = owner.ids;
    for (const [id, told] of [
      [license, { keyPrefix: expect.any(String), tier: expect.any(Number) }],
      [application, { name: expect.any(String) }],
      [user, { username: expect.any(String) }],
      [license, { keyPrefix: expect.any(String), tier: expect.any(Number) }],
    ] as const) {
      const answer = await owner.graphql.ask(document, { id });
      expect(answer.errors).toEqual([]);
      expect(answer.data).toEqual({ node: told });
    }
  });

  test('is read by the columns that are selected, and no other', async () => {
    const log = logStatements(server.deps.services.database.pool);
    const document = 'query ($id: ID!) { node(id: $id) { ... on License { keyPrefix } } }';
    await owner.graphql.ask(document, { id: owner.ids.license });
    log.take();
    await owner.graphql.ask(document, { id: owner.ids.license });
    const reads = log
      .take()
      .filter((statement) => /FROM licenses\s+WHERE licenses\.id = ANY/.test(statement));
    expect(reads).toHaveLength(1);
    expect(reads[0]).toContain('licenses.key_prefix');
    expect(reads[0]).not.toMatch(/note|hwid|key_hash|\*/);
  });
});

test('its lists take as many statements for pages of 50 as for pages of 1', async () => {
  const { id } = await owner.createApplication();
  await insertLicenses(server, id, Array(50).fill({}));
  const log = logStatements(server.deps.services.database.pool);
  const document = `query ($id: ID!, $first: Int) { node(id: $id) { ... on Application {
    licenses(first: $first) { edges { node { users(first: 1) { totalCount } application { id name } } } } } } }`;
  const counts: number[] = [];
  for (const first of [1, 1, 50]) {
    log.take();
    const answer = await owner.graphql.ask(document, { id, first });
    expect(answer.errors).toEqual([]);
    counts.push(log.take().length);
  }
  // The cookie, the table, the application, its licenses, the counts of their users, their application.
  expect(counts).toEqual([6, 6, 6]);
});

test('what is selected of it counts for the complexity of the document', async () => {
  const lists = `... on Application { licenses(first: 200) { edges { node {
    users(first: 200) { edges { node { id } } } } } } }`;
  const answer = await owner.graphql.ask(`query ($id: ID!) { node(id: $id) { ${lists} } }`, {
    id: owner.ids.application,
  });
  expectBadRequest(answer, 'QUERY_TOO_COMPLEX');
  expectBadRequest(
    await owner.graphql.ask(`query ($id: ID!) { node(id: $id) { ...F } } fragment F on Node { ${lists} }`, {
      id: owner.ids.application,
    }),
    'QUERY_TOO_COMPLEX',
  );
});
