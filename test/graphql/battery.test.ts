import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { newId } from '../../src/lib/ids.ts';
import { noLimits } from '../api/support.ts';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { deviceRequestOf } from '../setup/device-request.ts';
import { ask } from '../setup/end-users.ts';
import { openEventStream } from '../setup/event-stream.ts';
import type { GraphqlAnswer, GraphqlClient } from '../setup/graphql-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { bushOf, operationOf, pathsFrom, rootFields, typeOf } from './documents.ts';
import { answeredOnce, closedFields, fields, type RootField } from './fields.ts';
import {
  createFullAccount,
  type FullAccount,
  type Ids,
  rowsOf,
  secretsIn,
  stateBesideUse,
  textsOf,
} from './full-account.ts';
import { expectRefused, illFormedTexts, nobodysId, visitor } from './support.ts';

let server: TestServer;
/** No test may change this account. */
let victim: FullAccount;
/** Whose clients have presented the victim's license keys, and the other way round. */
let attacker: FullAccount;
let stolen: string[];
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  victim = await createFullAccount(server);
  attacker = await createFullAccount(server);
  await cross(attacker, victim);
  await cross(victim, attacker);
  await server.deps.services.securityLog.flush();
  const own = await textsOf(server, attacker);
  stolen = [...(await textsOf(server, victim))].filter((text) => !own.has(text));
  expect(stolen).toEqual(expect.arrayContaining([victim.developer.email, ...rowIdsOf(victim)]));
  expect(stolen.filter((text) => text.includes(victim.mark)).length).toBeGreaterThan(8);
});
afterAll(() => server.close());

/** An account to change. One serves several fields, until a field leaves it so that others would be refused. */
function accounts(create: () => Promise<FullAccount>): (row: RootField) => Promise<FullAccount> {
  let account: FullAccount | null = null;
  return async ({ field, once }) => {
    const current = account ?? (await create());
    account = once || field === 'Mutation.banLicense' ? null : current;
    return current;
  };
}
const ownerFor = accounts(() => createFullAccount(server));
const mineFor = accounts(async () => {
  const mine = await createFullAccount(server);
  await cross(mine, victim);
  return mine;
});

/** Its ids of rows. */
const rowIdsOf = ({ ids: { deviceRequest: _, ...ids } }: FullAccount): string[] => Object.values(ids);

const missing: Ids = {
  application: nobodysId,
  license: nobodysId,
  suspendedLicense: nobodysId,
  bannedLicense: nobodysId,
  user: nobodysId,
  device: nobodysId,
  ban: nobodysId,
  policy: nobodysId,
  key: nobodysId,
  session: nobodysId,
  webhook: nobodysId,
  delivery: nobodysId,
  deviceRequest: deviceRequestOf(nobodysId, 'device'),
};

const askFor = (client: GraphqlClient, { field, variables }: RootField, ids: Ids, password: string) =>
  client.ask(
    operationOf(field, (type) => bushOf(type, field.startsWith('Query.') ? 2 : 1, 2)),
    variables(ids, password),
  );

const byKey = ({ apiKey }: FullAccount) => visitor(server).with({ bearer: apiKey });

/** Clients of one developer's application present every license key of another's, in every way that they can. */
async function cross(from: FullAccount, to: FullAccount): Promise<void> {
  const { mark } = from;
  const client = new ApiClient(server.baseUrl);
  const session = await openSession(server, from.application, { client });
  const password = 'a password of some user';
  for (const { licenseKey } of Object.values(to.licenses)) {
    const members = { licenseKey, hwid: `thief ${mark}` };
    expect(await session.ask(validatePath, members)).toMatchObject({ code: 'APP_MISMATCH' });
    const user = { ...members, username: `thief.${mark}`, password };
    expect(await ask(server, from.application, 'register', user, { client })).toMatchObject({
      code: 'APP_MISMATCH',
    });
    const upgrade = { ...members, username: `grace.${mark}` };
    expect(await ask(server, from.application, 'upgrade', upgrade, { client })).toMatchObject({
      code: 'APP_MISMATCH',
    });
    const input = {
      applicationId: from.ids.application,
      username: `thief.${mark}`,
      password,
      licenseKey,
    };
    const created = await from.graphql.ask(
      'mutation ($input: CreateEndUserInput!) { createEndUser(input: $input) { user { id } } }',
      { input },
    );
    expectRefused(created, 'APP_MISMATCH');
  }
}

/** The rows of the victim, and nothing else: others may go on. */
const ofVictim = async () => rowsOf(await stateBesideUse(server), [victim.developer.id]);

/** An answer without the places in the document that errors may name: they say nothing of what was found. */
const told = ({ status, data, errors }: GraphqlAnswer<unknown>) => ({
  status,
  data,
  errors: errors.map(({ locations: _, ...error }) => error),
});

/** Every `totalCount` of an answer, in order. */
const counts = (answer: GraphqlAnswer<unknown>) =>
  [...JSON.stringify(answer.data).matchAll(/"totalCount":(\d+)/g)].map(([, count]) => Number(count));

/** An input in which no text and no number is what it should be. */
const spoilt = (variables: Record<string, unknown>): Record<string, unknown> =>
  z.record(z.string(), z.unknown()).parse(
    JSON.parse(JSON.stringify(variables), (name, value: unknown) => {
      if (typeof value === 'number') return -1;
      const isEnum = ['scope', 'mode', 'basis', 'action', 'period'].includes(name);
      // A scalar that is not one is refused before anyone asks who sends it.
      const isInstant = ['from', 'to'].includes(name);
      return typeof value === 'string' && !isEnum && !isInstant ? '' : value;
    }),
  );

/** The answer where an id names nothing: this error, or null without one. */
const expectNothing = (answer: GraphqlAnswer<unknown>, code: string | null) => {
  if (code !== null) return expectRefused(answer, code);
  expect(answer.errors).toEqual([]);
  expect(Object.values(answer.data ?? {})).toEqual([null]);
};

const expectNothingStolen = (answer: GraphqlAnswer<unknown>) => {
  const text = JSON.stringify(answer.answer.body);
  expect(stolen.filter((each) => text.includes(each))).toEqual([]);
};

const expectNoSecret = (answer: GraphqlAnswer<unknown>, { secrets }: FullAccount) =>
  expect(secretsIn(JSON.stringify(answer.answer.body), secrets)).toEqual([]);

test('the table has exactly the queries, mutations and subscriptions of the schema', () => {
  const named = new Set(fields.map(({ field }) => field.split(' on ', 1)[0]));
  expect([...named].sort()).toEqual([...rootFields.keys()].sort());
});

describe('without valid credentials', () => {
  test.each(closedFields)('$field is refused and changes nothing', async (row) => {
    const before = await ofVictim();
    for (const client of [
      visitor(server),
      visitor(server).with({ cookie: '' }),
      visitor(server).with({ cookie: 'eyJhbGciOiJub25lIn0.e30.' }),
      visitor(server).with({ bearer: `${victim.apiKey}x` }),
      visitor(server).with({ bearer: victim.revokedKey }),
    ]) {
      const answer = await askFor(client, row, victim.ids, victim.developer.password);
      expectRefused(answer, 'UNAUTHENTICATED');
      const [, name = ''] = /\.(\w+)/.exec(row.field) ?? [];
      expect(answer.data).toEqual({ [name]: null });
      const none = await askFor(client, row, missing, victim.developer.password);
      expect(told(none)).toEqual(told(answer));
      const bad = { ...row, variables: () => spoilt(row.variables(victim.ids, '')) };
      expect(told(await askFor(client, bad, missing, ''))).toEqual(told(answer));
    }
    expect(await ofVictim()).toEqual(before);
  });

  test('each field refuses a cookie from before a password change, and a revoked key', async () => {
    const { developer, graphql, ids, apiKey } = await createFullAccount(server);
    const newPassword = 'a new password for this';
    const changed = await graphql.ask(
      'mutation ($input: UpdateProfileInput!) { updateProfile(input: $input) { developer { id } } }',
      { input: { password: developer.password, newPassword } },
    );
    expect(changed.errors).toEqual([]);
    const renewed = graphql.with({ cookie: cookieOf(changed.answer) ?? '' });
    const keys = '{ me { account { apiKeys { edges { node { id keyPrefix } } } } } }';
    const listed = z
      .object({
        me: z.object({
          account: z.object({
            apiKeys: z.object({
              edges: z.array(z.object({ node: z.object({ id: z.string(), keyPrefix: z.string() }) })),
            }),
          }),
        }),
      })
      .parse((await renewed.ask(keys)).data);
    for (const { node } of listed.me.account.apiKeys.edges) {
      const revoke =
        'mutation ($input: RevokeApiKeyInput!) { revokeApiKey(input: $input) { key { revoked } } }';
      const answer = await renewed.ask(revoke, { input: { id: node.id } });
      expect(answer.data).toEqual({ revokeApiKey: { key: { revoked: true } } });
    }
    const before = await stateBesideUse(server);
    for (const row of closedFields) {
      for (const client of [graphql, visitor(server).with({ bearer: apiKey })]) {
        const answer = await askFor(client, row, ids, newPassword);
        expect(answer.codes, row.field).toEqual(['UNAUTHENTICATED']);
      }
    }
    expect(await stateBesideUse(server)).toEqual(before);
  });

  test('the log cannot be followed', async () => {
    const row = fields.find(({ field }) => field === 'Subscription.securityLog');
    if (row === undefined) throw new Error('there is no such row');
    const query = operationOf(row.field);
    const variables = row.variables(victim.ids, '');
    for (const client of [visitor(server), visitor(server).with({ bearer: victim.revokedKey })]) {
      const stream = await openEventStream(client.api, { query, variables });
      expect(await stream.rest()).toMatchObject([{ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }]);
    }
  });
});

describe('its owner', () => {
  test.each(closedFields)(
    'is answered by $field, by cookie and by API key, without a secret',
    async (row) => {
      const byCookie = ({ graphql }: FullAccount) => graphql;
      for (const clientOf of row.sessionOnly ? [byCookie] : [byCookie, byKey]) {
        const owner = await ownerFor(row);
        await row.prepare?.(server, owner.developer.id);
        const answer = await askFor(clientOf(owner), row, owner.ids, owner.developer.password);
        expect(answer.errors).toEqual([]);
        expect(Object.values(answer.data ?? {})).toEqual([expect.anything()]);
        expectNoSecret(answer, owner);
      }
    },
  );

  test('follows the log with a cookie and with an API key', async () => {
    const query = operationOf('Subscription.securityLog', (type) => bushOf(type, 2, 2));
    const variables = {
      applicationId: victim.ids.application,
      after: '00000000-0000-7000-8000-000000000000',
    };
    for (const client of [victim.graphql, byKey(victim)]) {
      const stream = await openEventStream(client.api, { query, variables });
      const entries = await stream.take(10);
      stream.close();
      expect(secretsIn(JSON.stringify(entries), victim.secrets)).toEqual([]);
      expect(entries[0]).toMatchObject({ event: 'application_created' });
    }
  });
});

describe("another developer's", () => {
  const named = answeredOnce.filter(({ ids = [] }) => ids.length > 0);
  /** The victim's ids where a field names something of these kinds, and the attacker's own elsewhere. */
  const mix = (kinds: readonly (keyof Ids)[], from: Ids): Ids => ({
    ...attacker.ids,
    ...Object.fromEntries(kinds.map((kind) => [kind, from[kind]])),
  });

  test.each(
    named.flatMap((row) => {
      const kinds = (row.ids ?? []).map(([kind]) => kind);
      const codeOf = (kind: keyof Ids) => row.ids?.find(([each]) => each === kind)?.[1] ?? null;
      return [
        { ...row, kinds, code: codeOf(kinds[0] ?? 'application') },
        ...(kinds.length > 1 ? kinds.map((kind) => ({ ...row, kinds: [kind], code: codeOf(kind) })) : []),
      ];
    }),
  )('$kinds is to $field what names nothing: $code', async ({ kinds, code, ...row }) => {
    const before = await ofVictim();
    for (const client of [attacker.graphql, byKey(attacker)]) {
      const { password } = attacker.developer;
      const foreign = await askFor(client, row, mix(kinds, victim.ids), password);
      const none = await askFor(client, row, mix(kinds, missing), password);
      expectNothing(none, code);
      expect(told(foreign)).toEqual(told(none));
      expectNothingStolen(foreign);
    }
    expect(await ofVictim()).toEqual(before);
  });

  test('log cannot be followed or found with filters', async () => {
    const row = 'Subscription.securityLog';
    const query = operationOf(row);
    const answers = await Promise.all(
      [victim.ids.application, nobodysId].map(async (applicationId) =>
        (await openEventStream(attacker.client, { query, variables: { applicationId } })).rest(),
      ),
    );
    expect(answers[0]).toMatchObject([{ errors: [{ extensions: { code: 'APP_NOT_FOUND' } }] }]);
    expect(answers[0]).toEqual(answers[1]);
  });

  test.each<[string, number, (mine: FullAccount) => Record<string, unknown>[]]>([
    ['Query.me', 3, () => [{}]],
    ['Query.application', 3, ({ ids }) => [{ id: ids.application }]],
    ['Query.license', 3, ({ licenses }) => Object.values(licenses).map(({ id }) => ({ id }))],
    ['Query.endUser', 4, ({ ids }) => [{ id: ids.user }]],
  ])('things are on no path from %s to my own', { tags: 'slow' }, async (root, hops, variablesOf) => {
    let lengths = 0;
    for (const path of pathsFrom(typeOf(root), hops)) {
      for (const variables of variablesOf(attacker)) {
        const query = operationOf(root, () => path);
        const answer = await attacker.graphql.ask(query, variables);
        expect(answer.errors, path).toEqual([]);
        expectNothingStolen(answer);
        expectNoSecret(answer, attacker);
        lengths += JSON.stringify(answer.data).length;
      }
    }
    expect(lengths).toBeGreaterThan(50_000);
  });

  test.each(closedFields)('data is in no response of $field about my own', { tags: 'slow' }, async (row) => {
    const mine = row.field.startsWith('Query.') ? attacker : await mineFor(row);
    const before = await ofVictim();
    const document = operationOf(row.field, (type) => bushOf(type, 2, 4));
    await row.prepare?.(server, mine.developer.id);
    const answer = await mine.graphql.ask(document, row.variables(mine.ids, mine.developer.password));
    expect(answer.errors).toEqual([]);
    expectNothingStolen(answer);
    expect(await ofVictim()).toEqual(before);
  });

  test('license and user stay hidden if an entry of my log names them', async () => {
    const mine = await createFullAccount(server);
    const [entry, license, user] = [newId(), victim.ids.license, victim.ids.user];
    const insert = `INSERT INTO security_log (id, developer_id, application_id, event, license_id, user_id, hwid)
      VALUES ($1, $2, $3, 'license_validated', $4, $5, 'a device of mine')`;
    await sql(server, insert, [entry, mine.developer.id, mine.ids.application, license, user]);
    let shown = 0;
    for (const path of pathsFrom(typeOf('Query.application'), 2)) {
      const query = operationOf('Query.application', () => path);
      const answer = await mine.graphql.ask(query, { id: mine.ids.application });
      expect(answer.errors).toEqual([]);
      const text = JSON.stringify(answer.data);
      if (text.includes(entry)) shown += 1;
      expect(stolen.filter((each) => ![license, user].includes(each) && text.includes(each))).toEqual([]);
    }
    // On the paths to the application, to the license and to the user that it names.
    expect(shown).toBe(3);
    const log =
      'query ($id: ID!) { license(id: $id) { securityLog { totalCount edges { node { hwid } } } } }';
    const answer = await victim.graphql.ask(log, { id: license });
    expect(answer.errors).toEqual([]);
    expect(counts(answer)[0]).toBeGreaterThan(0);
    expect(JSON.stringify(answer.data)).not.toContain('a device of mine');
    await sql(server, 'DELETE FROM security_log WHERE id = $1', [entry]);
    expect((await victim.graphql.ask(log, { id: license })).answer.body).toEqual(answer.answer.body);
  });

  test('data is not counted with mine', async () => {
    const { applications, licenses } = z
      .object({ metrics: z.object({ applications: z.unknown(), licenses: z.unknown() }) })
      .parse((await attacker.graphql.ask(operationOf('Query.metrics'))).data).metrics;
    expect(applications).toEqual({ total: 1, active: 1, disabled: 0 });
    expect(licenses).toEqual({ total: 5, unused: 1, active: 1, suspended: 1, expired: 1, banned: 1 });
  });

  /** Every list of an application, of a license and of an account, with a filter that names what is the victim's. */
  const lists = `query ($id: ID!, $license: ID!, $q: String, $log: SecurityLogFilter) {
    application(id: $id) {
      licenses(q: $q) { totalCount edges { node { id } } }
      users(q: $q) { totalCount edges { node { id } } }
      bans(q: $q) { totalCount edges { node { id } } }
      securityLog(q: $q, filter: $log) { totalCount edges { node { id } } }
    }
    license(id: $license) {
      users(q: $q) { totalCount edges { node { id } } }
      securityLog(q: $q, filter: $log) { totalCount edges { node { id } } }
    }
    me { account { securityLog(q: $q, filter: $log) { totalCount edges { node { id } } } } }
  }`;
  const ownIds = () => ({ id: attacker.ids.application, license: attacker.ids.license });

  test('ids in a filter find nothing', async () => {
    for (const log of [
      ...Object.values(victim.licenses).map(({ id }) => ({ licenseId: id })),
      { userId: victim.ids.user },
    ]) {
      const answer = await attacker.graphql.ask(lists, { ...ownIds(), q: null, log });
      expect(answer.errors).toEqual([]);
      const [, , , ofApplication, , ofLicense, ofAccount] = counts(answer);
      expect([ofApplication, ofLicense, ofAccount]).toEqual([0, 0, 0]);
    }
  });

  test('texts in a search find nothing', async () => {
    const searched = [
      victim.mark,
      ...Object.values(victim.licenses).map(({ licenseKey }) => licenseKey),
      `device ${victim.mark}`,
      victim.client.ip,
    ];
    for (const q of searched) {
      const answer = await attacker.graphql.ask(lists, { ...ownIds(), q, log: null });
      expect(answer.errors).toEqual([]);
      expect(counts(answer), q).toEqual([0, 0, 0, 0, 0, 0, 0]);
    }
    const own = await attacker.graphql.ask(lists, { ...ownIds(), q: attacker.mark, log: null });
    expect(counts(own).every((count) => count > 0)).toBe(true);
  });

  test('cursors are valid positions in my own lists', async () => {
    const paged = `query ($id: ID!, $cursor: String) {
      application(id: $id) {
        licenses(after: $cursor) { edges { node { id } } }
        users(after: $cursor) { edges { node { id } } }
        bans(after: $cursor) { edges { node { id } } }
        securityLog(after: $cursor) { edges { node { id } } }
      }
      me {
        applications(before: $cursor) { edges { node { id } } }
        account { apiKeys(before: $cursor) { edges { node { id } } } securityLog(before: $cursor) { edges { node { id } } } }
      }
    }`;
    const { ids } = attacker;
    for (const id of rowIdsOf(victim)) {
      // It differs from the victim's in its last digit alone, so that it stands at the same place and names nothing.
      const neighbour = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
      const [foreign, none] = await Promise.all(
        [id, neighbour].map((each) => {
          const cursor = Buffer.from(`after:${each}`).toString('base64url');
          return attacker.graphql.ask(paged, { id: ids.application, cursor });
        }),
      );
      expect(foreign?.errors).toEqual([]);
      expect(foreign?.answer.body).toEqual(none?.answer.body);
      if (foreign !== undefined) expectNothingStolen(foreign);
    }
  });
});

describe('an id', () => {
  const named = closedFields.filter(({ ids = [] }) => ids.length > 0);
  /** An id of another kind than the field asks for. */
  const elsewhere: Record<keyof Ids, keyof Ids> = {
    application: 'license',
    license: 'device',
    device: 'user',
    suspendedLicense: 'user',
    bannedLicense: 'user',
    user: 'ban',
    ban: 'policy',
    policy: 'key',
    key: 'session',
    session: 'webhook',
    webhook: 'delivery',
    delivery: 'application',
    deviceRequest: 'deviceRequest',
  };
  /** Where an input is checked as a whole, before anything is looked up. */
  const checked = new Set(['Mutation.createLicenses', 'Mutation.createBlindLicenses']);

  test.each(named)(
    'of another kind, or an invalid one, is not found by $field',
    { tags: 'slow' },
    async (row) => {
      const before = await stateBesideUse(server);
      for (const [kind, code] of row.ids ?? []) {
        const own = attacker.ids[kind];
        const wrong = [
          attacker.ids[elsewhere[kind]],
          '00000000-0000-0000-0000-000000000000',
          own.toUpperCase(),
          own.replaceAll('-', ''),
          `{${own}}`,
          `urn:uuid:${own}`,
          ` ${own}`,
          `${own}\n`,
          `${own}' OR true --`,
          '',
          '0',
          '1e3',
          'null',
          '__proto__',
          'a'.repeat(10_000),
          ...illFormedTexts.map(([, text]) => text),
          ...illFormedTexts.map(([, text]) => `${own}${text}`),
        ];
        for (const [index, id] of wrong.entries()) {
          const ids = { ...attacker.ids, [kind]: id };
          const answer = await askFor(attacker.graphql, row, ids, attacker.developer.password);
          const isId = index < 2;
          const expected = checked.has(row.field) && !isId ? 'VALIDATION_FAILED' : code;
          expect({ id: id.slice(0, 60), codes: answer.codes }).toEqual({
            id: id.slice(0, 60),
            codes: expected === null ? [] : [expected],
          });
        }
      }
      expect(await stateBesideUse(server)).toEqual(before);
    },
  );

  test('in a filter must be valid', async () => {
    const query = `query ($id: ID!, $filter: SecurityLogFilter) {
      application(id: $id) { securityLog(filter: $filter) { totalCount } } }`;
    for (const id of ['', 'garbage', victim.ids.license.toUpperCase(), '\0', 'a'.repeat(10_000)]) {
      for (const filter of [{ licenseId: id }, { userId: id }]) {
        const answer = await attacker.graphql.ask(query, { id: attacker.ids.application, filter });
        expectRefused(answer, 'VALIDATION_FAILED', { issues: expect.any(Array) });
      }
    }
  });
});

describe('the public fields', () => {
  const open = answeredOnce.filter(({ isOpen }) => isOpen);

  test('are only register, login and logout', () => {
    expect(open.map(({ field }) => field)).toEqual([
      'Mutation.register',
      'Mutation.login',
      'Mutation.logout',
    ]);
  });

  test.each(open)('$field can be used without a login, and changes no existing data', async (row) => {
    const before = await ofVictim();
    const variables = row.variables(missing, victim.developer.password);
    const answer = await visitor(server).ask(operationOf(row.field), variables);
    expect(answer.codes).toEqual(row.field === 'Mutation.login' ? ['INVALID_CREDENTIALS'] : []);
    expectNothingStolen(answer);
    expectNoSecret(answer, victim);
    expect(await ofVictim()).toEqual(before);
  });

  test.each([
    ['nobody', () => visitor(server)],
    ['somebody else', () => attacker.graphql],
  ])('login shows %s the whole account that logged in, and nothing of another', async (_who, clientOf) => {
    const { developer, ids } = victim;
    const answer = await clientOf().ask(
      operationOf('Mutation.login', (type) => bushOf(type, 3, 2)),
      { input: { email: developer.email, password: developer.password } },
    );
    expect(answer.errors).toEqual([]);
    expect(JSON.stringify(answer.data)).toContain(ids.application);
    expectNoSecret(answer, victim);
    const own = await textsOf(server, victim);
    const foreign = [...(await textsOf(server, attacker))].filter((text) => !own.has(text));
    expect(foreign.filter((text) => JSON.stringify(answer.data).includes(text))).toEqual([]);
  });
});
