import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { scopes } from '../../src/services/scopes.ts';
import { apiKeyAnswer, expectSuccess } from '../api/support.ts';
import { openEventStream } from '../setup/event-stream.ts';
import type { GraphqlClient } from '../setup/graphql-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import type { SeededApplication } from '../setup/world.ts';
import { askRest, routes } from './ask-pair.ts';
import { bushOf, operationOf } from './documents.ts';
import { closedFields } from './fields.ts';
import { createFullAccount, type FullAccount, stateBesideUse } from './full-account.ts';
import { pairs } from './pairs.ts';
import { expectRefused, noLimits, visitor } from './support.ts';

/** A key for another application of the same developer: what is of this one is like what another developer has. */

let server: TestServer;
let world: FullAccount;
/** The key's application. */
let own: SeededApplication;
let client: GraphqlClient;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  world = await createFullAccount(server);
  own = await world.createApplication({ name: 'Own' });
  const input = { name: 'bound', applicationId: own.id, scopes };
  const { key } = expectSuccess(
    await world.client.post('/api/v1/account/api-keys', input),
    201,
    apiKeyAnswer,
  );
  client = visitor(server).with({ bearer: key.apiKey });
});
afterAll(() => server.close());

const ofAccount = (names: readonly string[] | undefined) =>
  names?.some((name) => /^(account|webhooks):/.test(name));
const state = async () => ({ ...(await stateBesideUse(server)), security_log: null });

describe('what another application has is not found, and not changed', () => {
  let before: unknown;
  beforeAll(async () => {
    before = await state();
  });
  afterAll(async () => expect(await state()).toEqual(before));

  const named = pairs.filter(({ rest, ids, body }) => {
    const route = routes.get(rest);
    const names = ids !== undefined || /applicationId/.test(String(body));
    return names && route?.isOpen === false && !ofAccount(route.scopes);
  });

  test.each(named)('by $rest', async (pair) => {
    const ids = { ...world.ids, ...pair.about?.(world) };
    const answer = await askRest(client.api, pair, ids, pair.body?.({ world, ids }));
    expect({ status: answer.status, body: answer.body }).toMatchObject({
      status: 404,
      body: { code: expect.stringMatching(/^(APP|LICENSE)_NOT_FOUND$/) },
    });
  });

  test.each(
    closedFields.filter(({ ids, field }) => ids !== undefined && !/ApiKey|Session|Webhook/i.test(field)),
  )('by $field', async ({ field, variables, ids = [] }) => {
    const document = operationOf(field, (type) => bushOf(type, 0) || '__typename');
    const answer = await client.ask(document, variables(world.ids, ''));
    const [, code] = ids[0] ?? [];
    if (code !== null && code !== undefined) return expectRefused(answer, code);
    expect(answer.errors).toEqual([]);
    expect(Object.values(answer.data ?? {})).toEqual([null]);
  });

  test('by a stream of the log', async () => {
    const query = 'subscription ($id: ID!) { securityLog(applicationId: $id) { id } }';
    const stream = await openEventStream(client.api, { query, variables: { id: world.ids.application } });
    expect(await stream.rest()).toMatchObject([{ errors: [{ extensions: { code: 'APP_NOT_FOUND' } }] }]);
  });

  test('by the list of applications, their number and their figures', async () => {
    const answer = await client.ask(`{
      me { id applications { totalCount edges { node { id } } } }
      metrics { applications { total } licenses { total } validations24h { total } }
      metricsHistory(period: day) { validations { count } licenses { total } }
    }`);
    expect(answer.errors).toEqual([]);
    expect(answer.data).toEqual({
      me: { id: world.developer.id, applications: { totalCount: 1, edges: [{ node: { id: own.id } }] } },
      metrics: { applications: { total: 1 }, licenses: { total: 0 }, validations24h: { total: 0 } },
      metricsHistory: { validations: [], licenses: { total: 0 } },
    });
  });
});

test('what is of the account needs more than a key for one application', async () => {
  for (const pair of pairs.filter(
    ({ rest }) => ofAccount(routes.get(rest)?.scopes) || rest === 'createApplication',
  )) {
    const answer = await askRest(client.api, pair, world.ids, pair.body?.({ world, ids: world.ids }));
    expect(answer.body, pair.rest).toMatchObject({
      code: 'INSUFFICIENT_SCOPE',
      error: expect.stringContaining('for one application'),
    });
  }
  for (const id of [world.developer.id, world.ids.key]) {
    const answer = await client.ask('query ($id: ID!) { node(id: $id) { id } }', { id });
    // A key of the account is not even found.
    if (id === world.ids.key) expect(answer.data).toEqual({ node: null });
    else expectRefused(answer, 'INSUFFICIENT_SCOPE');
  }
  expectRefused(await client.ask('{ me { id account { id } } }'), 'INSUFFICIENT_SCOPE');
});

test('the log of its license does not have entries of another application about it', async () => {
  const license = await own.mintOne();
  const session = await openSession(server, own);
  await session.ask(validatePath, { licenseKey: license.licenseKey });
  await server.deps.services.securityLog.flush();
  await sql(
    server,
    `INSERT INTO security_log (id, developer_id, application_id, license_id, event, code, actor_kind)
     VALUES ($1, $2, $3, $4, 'license_validated', 'APP_MISMATCH', 'client')`,
    [newId(), world.developer.id, world.application.id, license.id],
  );
  const document = `query ($id: ID!) { license(id: $id) { application { id }
    securityLog { totalCount edges { node { code application { id } actor { kind id name } } } } } }`;
  const entry = (code: string, id: string) => ({
    node: { code, application: { id }, actor: { kind: 'client', id: null, name: null } },
  });
  const [mine, others] = [entry('OK', own.id), entry('APP_MISMATCH', world.ids.application)];
  const seen = (edges: object[]) => ({
    license: { application: { id: own.id }, securityLog: { totalCount: edges.length, edges } },
  });
  expect((await client.ask(document, { id: license.id })).data).toEqual(seen([mine]));
  expect((await world.graphql.ask(document, { id: license.id })).data).toEqual(seen([others, mine]));
});

test('it does in its own application what a key for the account does', async () => {
  const { api } = client;
  const license = await own.mintOne();
  const user = { username: 'grace', password: 'a user password', licenseKey: license.licenseKey };
  for (const [method, path, body] of [
    ['GET', `/apps/${own.id}`],
    ['PATCH', `/apps/${own.id}/settings`, { version: own.version, requireLicenseToRegister: false }],
    ['POST', '/licenses/create', { applicationId: own.id, amount: 1, durationSeconds: 60 }],
    ['GET', `/apps/${own.id}/licenses`],
    ['POST', `/licenses/${license.id}/suspend`, {}],
    ['POST', `/licenses/${license.id}/reinstate`],
    ['GET', `/licenses/${license.id}/devices`],
    ['POST', `/apps/${own.id}/users`, user],
    ['GET', `/apps/${own.id}/logs`],
    ['GET', `/apps/${own.id}/users/export`],
    ['DELETE', `/licenses/${license.id}`],
    ['DELETE', `/apps/${own.id}`],
  ] as const) {
    const answer = await api.send(method, `/api/v1${path}`, body);
    expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  }
});
