import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Scope, scopes } from '../../src/services/scopes.ts';
import { apiKeyAnswer, expectFailure, expectSuccess } from '../api/support.ts';
import type { ApiAnswer } from '../setup/api-client.ts';
import { openEventStream } from '../setup/event-stream.ts';
import type { GraphqlAnswer, GraphqlClient } from '../setup/graphql-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { askGraphql, askRest, routes } from './ask-pair.ts';
import { bushOf, committed, operationOf, type Relation, relationsOf, rootFields } from './documents.ts';
import { fields } from './fields.ts';
import { createFullAccount, type FullAccount, stateBesideUse } from './full-account.ts';
import { clientOperations, pairs } from './pairs.ts';
import { noLimits, visitor } from './support.ts';

/** The scope that reading something of a type needs. A new type that others lead to must be added. */
const scopeOfType: Readonly<Record<string, Scope>> = {
  Account: 'account:read',
  AccountSession: 'account:read',
  ApiKey: 'account:read',
  Application: 'applications:read',
  Ban: 'licenses:read',
  Developer: 'account:read',
  Device: 'licenses:read',
  EndUser: 'users:read',
  License: 'licenses:read',
  Policy: 'licenses:read',
  SecurityLogEntry: 'logs:read',
  Webhook: 'webhooks:read',
  WebhookDelivery: 'webhooks:read',
};

const open = new Set(['registerDeveloper', 'loginDeveloper', 'logoutDeveloper', ...clientOperations]);
const openFields = new Set(['Mutation.register', 'Mutation.login', 'Mutation.logout']);

const isScope = (name: string): name is Scope => scopes.some((scope) => scope === name);
const scopesIn = (names: readonly string[]): readonly Scope[] => {
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !isScope(name))).toEqual([]);
  return names.filter(isScope);
};

/** What the contract of REST declares. */
const neededByRest = (operationId: string): readonly Scope[] =>
  scopesIn(routes.get(operationId)?.scopes ?? []);

/** What the description of a root field declares. */
function neededByField(name: string): readonly Scope[] {
  const { description } = rootFields.get(name.split(' on ')[0] ?? '') ?? {};
  const [, type] = name.split(' on ');
  if (type !== undefined) return scopesIn([scopeOfType[type] ?? '']);
  const [, list = ''] = /An API key needs the scope ([a-z:, ]+)\.$/.exec(description ?? '') ?? [];
  return scopesIn(list.split(', '));
}

let server: TestServer;
let world: FullAccount;
beforeAll(async () => {
  server = await startTestServer({ env: { ...noLimits, COUNT_LIMITS: 'apiKeys=1000' } });
  world = await createFullAccount(server);
});
afterAll(() => server.close());

/** A client with a key that has these scopes, of the account of `owner`. */
async function withScopes(owner: FullAccount, given: readonly Scope[]): Promise<GraphqlClient> {
  const answer = await owner.client.post('/api/v1/account/api-keys', { name: 'scoped', scopes: given });
  const { key } = expectSuccess(answer, 201, apiKeyAnswer);
  return visitor(server).with({ bearer: key.apiKey });
}

/** The clients of one account, one for each set of scopes. */
function clientsOf(owner: () => FullAccount): (given: readonly Scope[]) => Promise<GraphqlClient> {
  const clients = new Map<string, Promise<GraphqlClient>>();
  return (given) => {
    const client = clients.get(given.join()) ?? withScopes(owner(), given);
    clients.set(given.join(), client);
    return client;
  };
}
const client = clientsOf(() => world);
const allBut = (scope: Scope) => client(scopes.filter((each) => each !== scope));

const expectScopeRefused = (answer: GraphqlAnswer<unknown>, scope: Scope, path?: readonly string[]) => {
  expect(answer.codes[0], JSON.stringify(answer.answer.body)).toBe('INSUFFICIENT_SCOPE');
  expect(answer.errors[0]?.message).toContain(scope);
  if (path !== undefined) expect(answer.errors[0]?.path).toEqual(path);
};

const refuses = (answer: ApiAnswer, scope: Scope) =>
  expect(expectFailure(answer, 403, 'INSUFFICIENT_SCOPE').error).toContain(scope);

/** The rows of the service but its API keys, which the tests create. */
const state = async () => ({ ...(await stateBesideUse(server)), api_keys: null, security_log: null });

describe('every operation says which scopes it needs', () => {
  test('in the contract of REST, with the same words in the description', () => {
    for (const [operationId, { description, isOpen }] of routes) {
      expect(isOpen, operationId).toBe(open.has(operationId));
      if (isOpen) continue;
      for (const scope of neededByRest(operationId)) expect(description, operationId).toContain(scope);
    }
  });

  test('in the description of every root field', () => {
    for (const name of rootFields.keys()) {
      if (openFields.has(name) || name === 'Query.node') continue;
      expect(() => neededByField(name), name).not.toThrow();
    }
  });

  test('the same for an operation of REST and the root field that is its partner', () => {
    for (const { rest, graphql } of pairs) {
      if (open.has(rest) || !rootFields.has(graphql)) continue;
      expect(neededByField(graphql), rest).toEqual(neededByRest(rest));
    }
  });
});

describe('a key with every scope but one that is needed is refused, and changes nothing', () => {
  let before: unknown;
  beforeAll(async () => {
    before = await state();
  });
  afterAll(async () => expect(await state()).toEqual(before));

  test.each(pairs.filter(({ rest }) => !open.has(rest)))('by $rest', async (pair) => {
    const ids = { ...world.ids, ...pair.about?.(world) };
    for (const scope of neededByRest(pair.rest)) {
      const { api } = await allBut(scope);
      refuses(await askRest(api, pair, ids, pair.body?.({ world, ids })), scope);
    }
  });

  test.each(fields.filter(({ isOpen }) => isOpen !== true))('by $field', async ({ field, variables }) => {
    for (const scope of neededByField(field)) {
      const given = variables(world.ids, world.developer.password);
      const document = operationOf(field, (type) => bushOf(type, 0) || '__typename');
      const asking = await allBut(scope);
      if (field.startsWith('Subscription.')) {
        const stream = await openEventStream(asking.api, { query: document, variables: given });
        expect(JSON.stringify(await stream.rest())).toContain('INSUFFICIENT_SCOPE');
      } else expectScopeRefused(await asking.ask(document, given), scope);
    }
  });
});

/** API keys are refused whatever their scopes are. */
const sessionOnly: ReadonlySet<string> = new Set(['confirmSession']);

/** A key can only give what it has itself. */
const giveable: Readonly<Record<string, object>> = {
  createApiKey: { scopes: ['account:write'] },
  updateApiKey: { scopes: ['account:write'] },
};

describe('a key with just the needed scopes', () => {
  test('succeeds with every operation of REST, one after another', async () => {
    const owner = await createFullAccount(server);
    const own = clientsOf(() => owner);
    const asked = pairs.filter(({ rest }) => !open.has(rest) && !sessionOnly.has(rest));
    for (const { rest } of asked) await own(neededByRest(rest));
    for (const pair of asked) {
      const ids = { ...owner.ids, ...pair.about?.(owner) };
      const { api } = await own(neededByRest(pair.rest));
      await pair.prepare?.(server, owner.developer.id);
      const body = pair.body && { ...pair.body({ world: owner, ids }), ...giveable[pair.rest] };
      const answer = await askRest(api, pair, ids, body);
      expect(answer.body, pair.rest).toMatchObject({ success: true });
    }
  });

  test('succeeds with every root field, and sees what it changed', async () => {
    const owner = await createFullAccount(server);
    const own = clientsOf(() => owner);
    const asked = pairs.filter(
      ({ rest, graphql }) => rootFields.has(graphql) && !openFields.has(graphql) && !sessionOnly.has(rest),
    );
    for (const { graphql } of asked) await own(neededByField(graphql));
    for (const pair of asked) {
      const ids = { ...owner.ids, ...pair.about?.(owner) };
      const document = pair.graphql.startsWith('Query.')
        ? operationOf(pair.graphql, (type) => bushOf(type, 0) || '__typename')
        : operationOf(
            pair.graphql,
            (type) =>
              [bushOf(type, 0), ...changedRows(type).map(({ field }) => `${field.name} { id }`)].join(' ') ||
              '__typename',
          );
      const asking = await own(neededByField(pair.graphql));
      await pair.prepare?.(server, owner.developer.id);
      const body = { ...pair.body?.({ world: owner, ids }), ...giveable[pair.rest] };
      const answer = await askGraphql(asking, { ...pair, document }, ids, body);
      expect(answer.errors, pair.rest).toEqual([]);
    }
  });

  test.each(fields.filter(({ field }) => field.includes(' on ') || field === 'Query.endUser'))(
    'succeeds with $field',
    async ({ field, variables }) => {
      const document = operationOf(field, (type) => bushOf(type, 0));
      const answer = await (await client(neededByField(field))).ask(document, variables(world.ids, ''));
      expect(answer.errors).toEqual([]);
      expect(Object.values(answer.data ?? {})).not.toEqual([null]);
    },
  );

  test('follows the security log', async () => {
    const { api } = await client(['logs:read']);
    const stream = await openEventStream(api, {
      query: 'subscription ($id: ID!, $after: ID) { securityLog(applicationId: $id, after: $after) { id } }',
      variables: { id: world.ids.application, after: '00000000-0000-7000-8000-000000000000' },
    });
    await stream.take(1);
    stream.close();
  });
});

/** The relations of a payload to the row that was changed; to its application leads only what changes no application. */
const changedRows = (type: Parameters<typeof relationsOf>[0]): Relation[] =>
  relationsOf(type).filter(
    ({ target, isList }) =>
      !isList && (target.name !== 'Application' || /^(Create|Update)Application/.test(type.name)),
  );

describe('a nested field needs the scope of what it leads to', () => {
  const parents = Object.keys(scopeOfType);
  const nested = parents.flatMap((parent) => {
    const type = committed.getType(parent);
    const relations = type && 'getFields' in type ? relationsOf(type as never) : [];
    return relations.map((relation) => ({ parent, name: relation.field.name, relation }));
  });

  test('the table has every type that a field leads to', () => {
    const targets = nested.map(({ relation }) => relation.target.name);
    expect([...new Set(targets)].filter((name) => scopeOfType[name] === undefined)).toEqual([]);
    expect(nested.length).toBeGreaterThan(20);
  });

  /** How to reach a thing of this type, and where it is in the answer. */
  async function reach(parent: string, selection: string) {
    if (parent === 'Developer') return { document: `{ me { ${selection} } }`, path: ['me'], id: '' };
    if (parent === 'Account')
      return { document: `{ me { account { ${selection} } } }`, path: ['me', 'account'], id: '' };
    const [entry] = await sql<{ id: string }>(
      server,
      `SELECT id FROM security_log WHERE application_id = $1 AND license_id IS NOT NULL AND user_id IS NOT NULL LIMIT 1`,
      [world.ids.application],
    );
    const [webhook] = await sql<{ id: string }>(
      server,
      'SELECT id FROM webhooks WHERE developer_id = $1 AND application_id IS NOT NULL LIMIT 1',
      [world.developer.id],
    );
    const ids: Readonly<Record<string, string>> = {
      ApiKey: world.ids.key,
      Application: world.ids.application,
      Ban: world.ids.ban,
      Device: world.ids.device,
      EndUser: world.ids.user,
      License: world.ids.license,
      Policy: world.ids.policy,
      SecurityLogEntry: entry?.id ?? '',
      Webhook: webhook?.id ?? '',
      WebhookDelivery: world.ids.delivery,
    };
    const document = `query ($id: ID!) { node(id: $id) { ... on ${parent} { ${selection} } } }`;
    return { document, path: ['node'], id: ids[parent] ?? '' };
  }

  test.each(
    nested.filter(
      ({ parent, relation }) =>
        // A developer's own fields need their scope, but not the way to the applications.
        parent === 'Developer' || scopeOfType[parent] !== scopeOfType[relation.target.name],
    ),
  )('$name of $parent', async ({ parent, name, relation: { target, isList } }) => {
    const scope = scopeOfType[target.name] ?? 'account:read';
    const selections = isList ? ['{ edges { node { id } } }', '{ totalCount }'] : ['{ id }'];
    for (const selection of selections) {
      const { document, path, id } = await reach(parent, `${name} ${selection}`);
      const variables = document.startsWith('query') ? { id } : {};
      const good = await world.graphql.ask(document, variables);
      expect(good.errors).toEqual([]);
      const answer = await (await allBut(scope)).ask(document, variables);
      const at = [...path, name];
      expectScopeRefused(answer, scope, selection.includes('totalCount') ? [...at, 'totalCount'] : at);
    }
  });

  test('also in the answer of a mutation: the application of licenses that were created', async () => {
    const document = `mutation ($input: CreateLicensesInput!) {
      createLicenses(input: $input) { keys { licenseKey } application { id } } }`;
    const input = { applicationId: world.ids.application, amount: 1, durationSeconds: 0 };
    const answer = await (await client(['licenses:mint'])).ask(document, { input });
    expectScopeRefused(answer, 'applications:read', ['createLicenses', 'application']);
    expect(answer.data).toEqual({
      createLicenses: { keys: [{ licenseKey: expect.any(String) }], application: null },
    });
  });

  test('a list of applications needs no scope for the account that leads to it', async () => {
    const document = '{ me { id applications { totalCount edges { node { id } } } } }';
    const answer = await (await client(['applications:read'])).ask(document);
    expect(answer.errors).toEqual([]);
    expect(answer.data).toMatchObject({ me: { id: world.developer.id, applications: { totalCount: 1 } } });
    const named = await (await client(['applications:read'])).ask(
      'query { me { ...Name } } fragment Name on Developer { name }',
    );
    expectScopeRefused(named, 'account:read', ['me']);
  });
});

test('a session has every scope', async () => {
  for (const pair of pairs.filter(({ rest }) => /^(get|list)/.test(rest))) {
    const answer = await askRest(world.client, pair, world.ids, pair.body?.({ world, ids: world.ids }));
    expect(answer.status, pair.rest).toBe(200);
  }
});
