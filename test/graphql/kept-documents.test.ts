import { createSchema, createYoga, type Plugin } from 'graphql-yoga';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { keepDocuments } from '../../src/graphql/kept-documents.ts';
import { randomIp } from '../setup/api-client.ts';
import type { GraphqlClient } from '../setup/graphql-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { bushOf, operationOf } from './documents.ts';
import { answeredOnce } from './fields.ts';
import { createFullAccount, type FullAccount } from './full-account.ts';
import { insertApplications } from './rows.ts';
import { createGraphqlWorld, nobodysId, noLimits, visitor } from './support.ts';

let server: TestServer;
let owner: FullAccount;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  owner = await createFullAccount(server);
  await insertApplications(server, owner.developer.id, 2);
});
afterAll(() => server.close());
afterEach(() => vi.restoreAllMocks());

interface Asked {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  readonly operationName?: string;
}

/** Status and body of an answer as text, in which members keep their order. */
async function told(client: GraphqlClient, asked: Asked): Promise<string> {
  const { status, body } = await client.api.post('/graphql', asked);
  const { errors, ...rest } = answerBody.parse(body);
  // Fields are resolved side by side, and which fails first differs. An export says when it was made.
  const sorted = errors?.map((error) => JSON.stringify(error)).sort();
  return `${status} ${JSON.stringify({ ...(errors && { errors: sorted?.map((error): unknown => JSON.parse(error)) }), ...rest }).replace(/"exportedAt":"[^"]+"/, '"exportedAt":""')}`;
}

const answerBody = z.looseObject({ errors: z.array(z.unknown()).optional() });

/** A document that no other test has sent. */
const fresh = (query: string) => `${query} # ${crypto.randomUUID()}`;

/** Asks six times and holds all of the answers to the first, which was made before anything was kept. */
async function askSixTimes(client: GraphqlClient, asked: Asked): Promise<string> {
  const document = { ...asked, query: fresh(asked.query) };
  const first = await told(client, document);
  for (let use = 2; use <= 6; use++) expect(await told(client, document), `use ${use}`).toBe(first);
  return first;
}

const bodyOf = (answer: string): unknown => JSON.parse(answer.slice(answer.indexOf(' ') + 1));

/** What a document answers when it is as good as new: asked under a text that nobody has sent. */
const answeredAnew = (client: GraphqlClient, asked: Asked) =>
  told(client, { ...asked, query: fresh(asked.query) });

/** The codes of an answer's errors. */
const codesOf = (answer: string) =>
  z
    .object({ errors: z.array(z.object({ extensions: z.object({ code: z.string() }) })).default([]) })
    .parse(bodyOf(answer))
    .errors.map(({ extensions }) => extensions.code);

type Variables = (own: FullAccount) => Readonly<Record<string, unknown>>;
const id: Variables = ({ ids }) => ({ id: ids.application });

/** Documents that have an answer without an error. */
const good: readonly (readonly [name: string, query: string, variables?: Variables])[] = [
  ['one field', '{ me { name } }'],
  [
    'members in another order',
    '{ me { name id email createdAt applications { totalCount pageInfo { endCursor hasNextPage } edges { cursor node { version id } } } } metrics { licenses { total } } }',
  ],
  ['a name of its own', 'query Screen { me { name } }'],
  [
    'lists in lists',
    'query ($id: ID!) { application(id: $id) { licenses(first: 5) { totalCount edges { node { id users(first: 3) { totalCount edges { node { username license { keyPrefix status } } } } bans { edges { node { value sourceLicense { id } } } } } } } } }',
    id,
  ],
  [
    'aliases at every level',
    'query ($id: ID!) { one: application(id: $id) { n: name l: licenses(first: 2) { e: edges { x: node { i: id s: status a: application { n: name } } } } } two: application(id: $id) { v: version l: licenses(last: 2) { e: edges { x: node { k: keyPrefix } } } } }',
    id,
  ],
  [
    'aliases that swap names',
    'query ($id: ID!) { application(id: $id) { name: version version: name id: publicKeyB64 licenses: users { totalCount } users: licenses { totalCount } } }',
    id,
  ],
  [
    'names of members that every object has',
    '{ me { constructor: name toString: id hasOwnProperty: email valueOf: account { id } } constructor: me { id } toString: metrics { licenses { total } } }',
  ],
  ['`__proto__` as an alias', '{ __proto__: me { id __proto__: name } me { name } }'],
  [
    'aliases that are one when they are joined',
    '{ x: me { y_z: account { id keyCreationMode } } z_x: me { y: account { licenseMask } } }',
  ],
  [
    'fields that are merged',
    'query ($id: ID!) { me { name } application(id: $id) { name licenses { edges { node { id } } } } me { id account { id } } application(id: $id) { version licenses { totalCount edges { cursor node { status } } } } me { account { licenseMask } } }',
    id,
  ],
  [
    'fragments in fragments',
    'query ($id: ID!) { application(id: $id) { ...A licenses { edges { node { ...L } } } } } fragment A on Application { name ...B bans { edges { node { value sourceLicense { ...L } } } } } fragment B on Application { version ... { status } ... on Application { id } } fragment L on License { status application { ...B } users { edges { node { license { keyPrefix } } } } }',
    id,
  ],
  [
    '`__typename` at every level',
    'query ($id: ID!) { __typename application(id: $id) { __typename licenses { __typename edges { __typename node { __typename id } } pageInfo { __typename } } responseMessages { __typename key } } }',
    id,
  ],
  ['`__typename` under aliases', '{ a: __typename me { id: __typename b: __typename name } }'],
  [
    'objects of any JSON',
    'query ($id: ID!) { application(id: $id) { securityLog { edges { node { event metadata } } } } endUserExport(applicationId: $id) }',
    id,
  ],
  [
    'variables of every kind',
    'query ($id: ID!, $first: Int, $q: String, $filter: LicenseFilter, $log: SecurityLogFilter, $events: [SecurityEvent!]) { application(id: $id) { licenses(first: $first, q: $q, filter: $filter) { totalCount edges { node { status note } } } log: securityLog(filter: $log) { totalCount } events: securityLog(filter: { events: $events, createdFrom: null }) { totalCount edges { node { event } } } } }',
    ({ ids, mark }) => ({
      id: ids.application,
      first: 3,
      q: mark,
      filter: { statuses: ['active', 'unused'], hasHwid: null, subscriptionTiers: [0], expiresFrom: null },
      log: { createdFrom: '2020-01-01T00:00:00Z', codes: 'OK' },
      events: 'licenses_created',
    }),
  ],
  [
    'an enum in the document',
    'query ($id: ID!) { application(id: $id) { licenses(filter: { statuses: [active, banned], subscriptionTiers: 0 }) { totalCount edges { node { status } } } bans(filter: { banType: hwid }) { edges { node { banType } } } } }',
    id,
  ],
  [
    'defaults that are not needed',
    'query ($id: ID!, $first: Int = 2, $hwid: Boolean = true, $of: [LicenseStatus!] = [active]) { application(id: $id) { licenses(first: $first, filter: { hasHwid: $hwid, statuses: $of }) { edges { node { hwid status } } } } }',
    ({ ids }) => ({ id: ids.application, first: 4, hwid: null, of: null }),
  ],
  [
    'defaults that are needed',
    'query ($id: ID!, $first: Int = 2, $hwid: Boolean = true, $filter: BanFilter = { banType: hwid }) { application(id: $id) { licenses(first: $first, filter: { hasHwid: $hwid }) { edges { node { hwid } } } bans(filter: $filter) { totalCount } } }',
    id,
  ],
  [
    'a default that is an instant',
    'query ($filter: SecurityLogFilter = { createdFrom: "2020-01-01T00:00:00Z" }, $from: DateTime = "2020-01-01T00:00:00Z") { me { account { a: securityLog(filter: $filter) { totalCount } b: securityLog(filter: { createdFrom: $from }) { totalCount } } } }',
  ],
  [
    'variables that are left out',
    'query ($id: ID!, $first: Int, $filter: LicenseFilter, $hwid: Boolean) { application(id: $id) { a: licenses(first: $first, filter: $filter) { totalCount } b: licenses(filter: { hasHwid: $hwid }) { totalCount } } }',
    id,
  ],
  [
    'variables that are null',
    'query ($id: ID!, $first: Int, $filter: LicenseFilter, $hwid: Boolean) { application(id: $id) { a: licenses(first: $first, filter: $filter) { totalCount } b: licenses(filter: { hasHwid: $hwid }) { totalCount } } }',
    ({ ids }) => ({ id: ids.application, first: null, filter: null, hwid: null }),
  ],
  [
    'variables with names of members of objects',
    'query ($constructor: ID!, $toString: Int) { application(id: $constructor) { licenses(first: $toString) { totalCount } } }',
    ({ ids }) => ({ constructor: ids.application }),
  ],
  [
    'texts with every kind of character',
    'query ($id: ID!) { application(id: $id) { a: licenses(q: "\\u0041\\n\\"\\\\\u2028é😀") { totalCount } b: licenses(q: """\n  block "text"\n    \\""" $1 $& $q\n""") { totalCount } } }',
    id,
  ],
  [
    'texts of variables with every kind of character',
    'query ($id: ID!, $q: String) { application(id: $id) { licenses(q: $q) { totalCount } } }',
    ({ ids }) => ({ id: ids.application, q: '"\\\u2028$q\n😀' }),
  ],
  [
    'lines that end in every way',
    '# é😀\r\nquery ($id: ID!) {\r\n  application(id: $id) {\r    name\n\n    licenses {\r\n edges { node { id } } }\r\n  }\r\n}\r\n',
    id,
  ],
  [
    'introspection',
    '{ __schema { queryType { name } types { name fields { name type { name ofType { name } } } } } __type(name: "License") { fields { name } } me { id } }',
  ],
  [
    'directives that always hold',
    'query ($id: ID!) { application(id: $id) { name @include(if: true) version @skip(if: true) ... @skip(if: false) { id } ... @include(if: false) { status } } }',
    id,
  ],
  [
    'a fragment that is left out at one of its places',
    'query ($a: Boolean!) { a: me { ...F @include(if: $a) id } b: me { ...F } c: me { ...F @include(if: $a) ...F } me @include(if: $a) { ...F } me { id } } fragment F on Developer { name account { id } }',
    () => ({ a: false }),
  ],
  [
    'conditions with defaults',
    'query ($yes: Boolean = true, $no: Boolean! = false) { me { name @include(if: $yes) email @include(if: $no) id @skip(if: $no) @include(if: $yes) } }',
  ],
];

/** Documents that fail in part or whole, and the codes of that. */
const bad: readonly (readonly [
  name: string,
  codes: readonly string[],
  query: string,
  variables?: Variables,
])[] = [
  [
    'what is not there, beside what is',
    ['APP_NOT_FOUND', 'LICENSE_NOT_FOUND'],
    'query ($id: ID!) { me { name } application(id: $id) { name } other: license(id: $id) { id } metrics { licenses { total } } }',
    () => ({ id: nobodysId }),
  ],
  [
    'what is not there, on lines that end in every way',
    ['APP_NOT_FOUND', 'LICENSE_NOT_FOUND'],
    '# é😀\r\nquery ($id: ID!) {\r  a: application(id: $id) {\r\n    name }\n\r\n\n\r\t é'.slice(0, -1) +
      'license(id: $id) { id }\r\n}',
    () => ({ id: nobodysId }),
  ],
  [
    'a fragment around it',
    ['USER_NOT_FOUND'],
    'query ($id: ID!) { ...F } fragment F on Query { me { id } ... on Query { gone: endUser(id: $id) { id } } }',
    () => ({ id: nobodysId }),
  ],
  [
    'fields that are merged',
    ['APP_NOT_FOUND'],
    'query ($id: ID!) { application(id: $id) { name } me { id } application(id: $id) { version } }',
    () => ({ id: nobodysId }),
  ],
  [
    'a list that is asked for too much',
    ['VALIDATION_FAILED'],
    'query ($id: ID!, $first: Int) { application(id: $id) { name licenses(first: $first) { totalCount } } me { id } }',
    ({ ids }) => ({ id: ids.application, first: 0 }),
  ],
  [
    'one in each row of a list',
    ['VALIDATION_FAILED'],
    'query ($first: Int) { me { name applications { edges { node { id licenses(first: $first) { totalCount } } } } } metrics { licenses { total } } }',
    () => ({ first: -1 }),
  ],
  [
    'two in each row of a list',
    ['VALIDATION_FAILED'],
    'query ($first: Int) { me { applications { edges { node { users(first: $first) { totalCount } licenses(first: $first) { totalCount } } } } } }',
    () => ({ first: -1 }),
  ],
  [
    'one under names of members of objects',
    ['VALIDATION_FAILED'],
    'query ($first: Int) { constructor: me { toString: applications { edges { constructor: node { valueOf: licenses(first: $first) { totalCount } } } } } toString: me { id } }',
    () => ({ first: -1 }),
  ],
  [
    'an input that is wrong in several ways',
    ['VALIDATION_FAILED'],
    'query ($id: ID!, $log: SecurityLogFilter) { application(id: $id) { securityLog(filter: $log) { totalCount } } }',
    ({ ids }) => ({ id: ids.application, log: { licenseId: 'x', userId: 'y' } }),
  ],
  ['a variable that is missing', ['BAD_REQUEST'], 'query ($id: ID!) { application(id: $id) { name } }'],
  [
    'a variable of another type',
    ['BAD_REQUEST'],
    'query ($id: ID!, $first: Int) { application(id: $id) { licenses(first: $first) { totalCount } } }',
    ({ ids }) => ({ id: ids.application, first: 'ten' }),
  ],
  [
    'an enum that has no such value',
    ['BAD_REQUEST', 'BAD_REQUEST'],
    'query ($filter: LicenseFilter, $id: ID!) { application(id: $id) { licenses(filter: $filter) { totalCount } } }',
    ({ ids }) => ({ id: ids.application, filter: { statuses: ['gone'], other: 1 } }),
  ],
  [
    'a null in a list that has none',
    ['BAD_REQUEST'],
    'query ($id: ID!, $tier: Int = 0) { application(id: $id) { licenses(filter: { subscriptionTiers: [$tier] }) { totalCount } } }',
    ({ ids }) => ({ id: ids.application, tier: null }),
  ],
];

describe('the same document, sent six times, has the same response', () => {
  test.each(good.map(([name, query, variables]) => ({ name, query, variables })))(
    '$name',
    async ({ query, variables }) => {
      const answer = await askSixTimes(owner.graphql, { query, variables: variables?.(owner) });
      expect(codesOf(answer)).toEqual([]);
      expect(answer).toMatch(/^200 \{"data":\{"/);
    },
  );

  test.each(bad.map(([name, codes, query, variables]) => ({ name, codes, query, variables })))(
    'when it fails: $name',
    async ({ codes, query, variables }) => {
      const answer = await askSixTimes(owner.graphql, { query, variables: variables?.(owner) });
      expect(codesOf(answer)).toEqual(codes);
    },
  );

  test.each(
    answeredOnce.filter(({ field }) => field.startsWith('Query.') && field !== 'Query.accountExport'),
  )('$field, with all that it leads to', async ({ field, variables }) => {
    const query = operationOf(field, (type) => bushOf(type, 2, 3));
    const answer = await askSixTimes(owner.graphql, { query, variables: variables(owner.ids, '') });
    expect(codesOf(answer)).toEqual([]);
  });

  test.each(['Two', 'Gone', ''])('with several operations, of which "%s" is named', async (operationName) => {
    const query = 'query One { me { id } } query Two { me { name } }';
    const answer = await askSixTimes(owner.graphql, { query, operationName });
    expect(bodyOf(answer)).toMatchObject(
      operationName === 'Two' ? { data: { me: { name: 'Ada' } } } : { errors: [{}] },
    );
  });

  test.each(['One', 'Two', ''])('with one operation, when "%s" is named', async (operationName) => {
    const answer = await askSixTimes(owner.graphql, { query: 'query One { me { name } }', operationName });
    expect(answer.includes('"errors"')).toBe(operationName !== 'One');
  });

  test('if a dependency is unavailable for some of its rows', async () => {
    const { pool } = server.deps.services.database;
    const original = pool.query;
    vi.spyOn(pool, 'query').mockImplementation((...args: unknown[]) => {
      if (/FROM licenses\s+WHERE licenses\.id = ANY/.test(String(args[0])))
        throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
      return Reflect.apply(original, pool, args);
    });
    const query =
      'query ($id: ID!) { application(id: $id) { name bans { edges { node { value sourceLicense { id } } } } users { edges { node { license { id } username } } } } }';
    const answer = await askSixTimes(owner.graphql, { query, variables: id(owner) });
    expect(new Set(codesOf(answer))).toEqual(new Set(['UNAVAILABLE']));
    expect(codesOf(answer).length).toBeGreaterThan(2);
    expect(answer).toContain(`"username":"grace.${owner.mark}"`);
  });
});

describe('changes between two uses', () => {
  test.each([
    [
      'how long a list is',
      'query ($id: ID!, $first: Int!) { application(id: $id) { licenses(first: $first) { edges { node { id } } } } }',
      [1, 50, 2, 1, 50, 3].map((first) => ({ first })),
    ],
    [
      'what a directive leaves out',
      'query ($id: ID!, $with: Boolean!) { application(id: $id) { ...F @include(if: $with) version @skip(if: $with) licenses { edges { node { id ...L @skip(if: $with) } } } } } fragment F on Application { name licenses { totalCount } } fragment L on License { status }',
      [true, false, true, false, false, true].map((of) => ({ with: of })),
    ],
    [
      'what a list is filtered for',
      'query ($id: ID!, $filter: LicenseFilter) { application(id: $id) { licenses(filter: $filter) { totalCount edges { node { status } } } } }',
      [{ statuses: ['active'] }, null, { statuses: 'banned' }, { hasHwid: false }, {}, null].map(
        (filter) => ({
          filter,
        }),
      ),
    ],
  ])('changes the answer: %s', async (_name, query, uses) => {
    const kept = fresh(query);
    const answers = new Set<string>();
    for (const use of uses) {
      const variables = { ...id(owner), ...use };
      const answer = await told(owner.graphql, { query: kept, variables });
      expect(answer).toBe(await answeredAnew(owner.graphql, { query, variables }));
      answers.add(answer);
    }
    expect(answers.size).toBeGreaterThan(1);
  });

  test('are counted again: a list that is too long is refused at the tenth use', async () => {
    const query = fresh(
      'query ($first: Int!) { me { applications(first: $first) { edges { node { licenses(first: $first) { edges { node { id note } } } } } } } }',
    );
    for (let use = 1; use <= 9; use++)
      expect(codesOf(await told(owner.graphql, { query, variables: { first: 5 } }))).toEqual([]);
    const answer = await told(owner.graphql, { query, variables: { first: 200 } });
    expect(codesOf(answer)).toEqual(['QUERY_TOO_COMPLEX']);
  });

  test('are read again: changes of a mutation, and the mutation itself each time', async () => {
    const { graphql, ids } = await createFullAccount(server);
    const query = fresh('query ($id: ID!) { license(id: $id) { subscriptionTier } }');
    const mutation = fresh(
      'mutation ($input: SetLicenseTierInput!) { setLicenseTier(input: $input) { license { subscriptionTier } } }',
    );
    for (let subscriptionTier = 1; subscriptionTier <= 6; subscriptionTier++) {
      const input = { id: ids.license, subscriptionTier };
      expect(bodyOf(await told(graphql, { query: mutation, variables: { input } }))).toEqual({
        data: { setLicenseTier: { license: { subscriptionTier } } },
      });
      expect(bodyOf(await told(graphql, { query, variables: { id: ids.license } }))).toEqual({
        data: { license: { subscriptionTier } },
      });
    }
  });
});

describe('a document that one developer has sent often', () => {
  const query = fresh('query ($id: ID!) { me { id email } application(id: $id) { name } }');

  test('returns each developer their own data, even for fifty concurrent requests', async () => {
    const other = await createGraphqlWorld(server);
    for (let use = 1; use <= 6; use++) await told(owner.graphql, { query, variables: id(owner) });
    const asked = Array.from({ length: 50 }, (_, index) => [owner, other][index % 2] ?? owner);
    const answers = await Promise.all(
      asked.map(({ graphql }) => graphql.ask(query, { id: owner.ids.application })),
    );
    for (const [index, { data, codes }] of answers.entries()) {
      const isOwner = asked[index] === owner;
      const { id: developer, email } = (asked[index] ?? owner).developer;
      expect(data).toEqual({
        me: { id: developer, email },
        application: isOwner ? { name: `Photo Lab ${owner.mark}` } : null,
      });
      expect(codes).toEqual(isOwner ? [] : ['APP_NOT_FOUND']);
    }
    const refused = await visitor(server).ask(query, { id: owner.ids.application });
    expect(refused.data).toEqual({ me: null, application: null });
    expect(refused.codes).toEqual(['UNAUTHENTICATED', 'UNAUTHENTICATED']);
  });
});

test('each alias counts towards a rate limit, at the tenth use as at the first', async () => {
  const limited = await startTestServer({ env: { RATE_LIMITS: 'auth=20' } });
  try {
    const { graphql } = await createGraphqlWorld(limited);
    const elsewhere = graphql.with({ ip: randomIp() });
    const query =
      'mutation ($input: LoginInput!) { a: login(input: $input) { developer { id } } b: login(input: $input) { developer { id } } }';
    const input = { email: 'nobody@example.com', password: 'not the password' };
    const codes: string[] = [];
    for (let use = 1; use <= 12; use++) codes.push(...(await elsewhere.ask(query, { input })).codes);
    expect(codes.slice(0, 20)).toEqual(Array(20).fill('INVALID_CREDENTIALS'));
    expect(codes.slice(20)).toEqual(Array(4).fill('RATE_LIMITED'));
  } finally {
    await limited.close();
  }
});

describe('the cache of documents', () => {
  /** Answers texts as the service does, and says which of them were parsed. */
  function parsing(type: 'developer' | 'nobody') {
    const parsed: string[] = [];
    const noteParsed: Plugin = {
      onParse: ({ parseFn, setParseFn }) =>
        setParseFn((source: string, options) => {
          parsed.push(source);
          return parseFn(source, options);
        }),
    };
    const yoga = createYoga({
      schema: createSchema({ typeDefs: 'type Query { one: Int }' }),
      parserAndValidationCache: false,
      logging: false,
      plugins: [keepDocuments(), noteParsed],
    });
    return async (...texts: string[]): Promise<string[]> => {
      parsed.length = 0;
      for (const query of texts) {
        const body = JSON.stringify({ query });
        const headers = { 'Content-Type': 'application/json' };
        await yoga.fetch(
          'http://127.0.0.1/graphql',
          { method: 'POST', headers, body },
          { service: { actor: { type } } },
        );
      }
      return [...parsed];
    };
  }
  const texts = (amount: number, length = 0) =>
    Array.from({ length: amount }, (_, index) => `{ one } # ${index}`.padEnd(length, '.'));

  test('parses documents of developers once, and unauthenticated ones each time', async () => {
    const [first = ''] = texts(1);
    expect(await parsing('developer')(first, first, first)).toEqual([first]);
    expect(await parsing('nobody')(first, first, first)).toEqual([first, first, first]);
  });

  test('has the hundred most recently used', async () => {
    const ask = parsing('developer');
    const all = texts(101);
    await ask(...all);
    expect(await ask(...all.slice(1))).toEqual([]);
    expect(await ask(...all.slice(0, 1))).toEqual(all.slice(0, 1));
  });

  test('has at most 200,000 characters in total, and no document longer than 8,000', async () => {
    const ask = parsing('developer');
    const all = texts(26, 8_000);
    await ask(...all);
    expect(await ask(...all.slice(1))).toEqual([]);
    expect(await ask(...all.slice(0, 1))).toEqual(all.slice(0, 1));
    const long = texts(1, 8_001);
    await ask(...long);
    expect(await ask(...long)).toEqual(long);
  });

  test('has no invalid document', async () => {
    const ask = parsing('developer');
    await ask('{ two }');
    expect(await ask('{ two }')).toEqual(['{ two }']);
  });
});
