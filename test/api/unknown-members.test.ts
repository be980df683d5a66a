import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { routes } from '../openapi/contract.ts';
import { ApiClient } from '../setup/api-client.ts';
import { useWorld } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import { expectFailure, missingId, noLimits } from './support.ts';

/** Unknown members are refused by name: an ignored filter or duration would mislead the caller. */

const { server, world } = useWorld({ env: noLimits });

const clientProtocol = /^\/(session|client)\/|^\/licenses\/validate$/;
const dashboard = routes
  .filter(({ path }) => !clientProtocol.test(path))
  .map(({ method, path, ...rest }) => ({
    ...rest,
    method,
    path: `/api/v1${path.replaceAll(/\{\w+\}/g, missingId)}`,
    name: `${method} ${path}`,
  }));
const issuesOf = (answer: Awaited<ReturnType<ApiClient['send']>>) =>
  expectFailure(answer, 400, 'VALIDATION_FAILED').issues ?? [];
const pathsOf = (answer: Awaited<ReturnType<ApiClient['send']>>) => issuesOf(answer).map(({ path }) => path);

/** Required query parameters, which are not what is tested. */
const required: Readonly<Record<string, string>> = { 'GET /metrics/history': '&period=day' };

test.each(dashboard)('$name refuses an unknown query parameter', async ({ method, path, name }) => {
  const answer = await world.client.send(method, `${path}?unheardOf=1${required[name] ?? ''}`);
  expect(pathsOf(answer)).toEqual([['unheardOf']]);
});

test.each(dashboard.filter(({ method }) => method !== 'GET'))(
  '$name refuses an unknown member of its body',
  async ({ method, path }) => {
    const answer = await world.client.send(method, path, { unheardOf: 1 });
    expect(pathsOf(answer)).toContainEqual(['unheardOf']);
  },
);

describe('a request that has no documented body', () => {
  /** These name nothing in their paths, so they succeed. */
  const succeeds = new Set(['POST /auth/logout', 'POST /account/sessions/revoke-others']);
  const bodiless = dashboard.filter(
    ({ method, requestBody, name }) => method !== 'GET' && requestBody === undefined && !succeeds.has(name),
  );

  test.each(bodiless)('$name gives the same response without one and with an empty object', async (route) => {
    const send = (body?: unknown) => world.client.send(route.method, route.path, body);
    const answers = [await send(), await send({}), await send('')];
    for (const { status, body } of answers) {
      expect({ status, body }).toEqual({ status: 404, body: answers[0]?.body });
    }
    for (const body of [[], 'null', '1', '{']) expectFailure(await send(body), 400, 'VALIDATION_FAILED');
  });

  test('ends other sessions without one or with an empty object', async () => {
    for (const body of [undefined, {}, '']) {
      const answer = await world.client.post('/api/v1/account/sessions/revoke-others', body);
      expect({ status: answer.status, body: answer.body }).toEqual({
        status: 200,
        body: { success: true, revoked: 0 },
      });
    }
  });

  test('logs out without one or with an empty object', async () => {
    for (const body of [undefined, {}, '']) {
      const { client } = await createWorld(server);
      expect((await client.post('/api/v1/auth/logout', body)).status).toBe(200);
    }
  });
});

describe('of an application', () => {
  let applicationId: string;
  beforeEach(async () => {
    applicationId = (await world.createApplication()).id;
  });
  const licenses = () => server.deps.services.database.prisma.license.count({ where: { applicationId } });

  test('a mint with a misspelt duration mints nothing', async () => {
    const body = { applicationId, amount: 1, durationSeconds: 0, durationDays: 3 };
    const answer = await world.client.post('/api/v1/licenses/create', body);
    expect(issuesOf(answer)).toEqual([
      { path: ['durationDays'], message: expect.stringMatching(/is unknown.*durationSeconds/) },
    ]);
    expect(await licenses()).toBe(0);
  });

  test('a key of a blind mint must not have unknown members either', async () => {
    const key = { licenseKeyHash: 'a'.repeat(64), licenseKeyPrefix: 'AB', durationSeconds: 0 };
    const body = { applicationId, keys: [key, { ...key, licenseKeyHash: 'b'.repeat(64), tier: 9 }] };
    const answer = await world.client.post('/api/v1/licenses/create-blind', body);
    expect(pathsOf(answer)).toEqual([['keys', 1, 'tier']]);
    expect(await licenses()).toBe(0);
  });

  test('a list with an unknown filter is refused', async () => {
    const answer = await world.client.get(`/api/v1/apps/${applicationId}/licenses?statuses=banned&tiers=9`);
    expect(issuesOf(answer)).toEqual(
      ['statuses', 'tiers'].map((name) => ({
        path: [name],
        message: expect.stringMatching(/limit, cursor, q/),
      })),
    );
  });

  test('a repeated parameter is refused, because one of them would be ignored', async () => {
    for (const name of ['limit', 'cursor', 'q']) {
      const answer = await world.client.get(`/api/v1/apps/${applicationId}/licenses?${name}=1&${name}=2`);
      expect(pathsOf(answer), name).toContainEqual([name]);
    }
  });

  test('messages must have editable keys', async () => {
    const path = `/api/v1/apps/${applicationId}/settings`;
    const answer = await world.client.patch(path, { responseMessages: { OK: 'Fine', KO: 'Not fine' } });
    expect(issuesOf(answer)).toEqual([
      { path: ['responseMessages', 'KO'], message: expect.stringMatching(/is unknown.*USERNAME_TAKEN/) },
    ]);
    const { body } = await world.client.get(`/api/v1/apps/${applicationId}`);
    expect(JSON.stringify(body)).not.toContain('Fine');
  });
});

test('members named like JavaScript properties are members like any other', async () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const answer = await world.client.post('/api/v1/apps/create', `{"name":"A","${name}":{}}`);
    expect(pathsOf(answer), name).toEqual([[name]]);
  }
});

test('a refusal names up to twenty members, each shortened', async () => {
  const email = 'flood@example.com';
  const members = Array.from({ length: 1_000 }, (_, index) => [`${index}${'x'.repeat(60)}`, 1]);
  const long = { ['y'.repeat(20_000)]: 1 };
  const body = { email, password: 'a password', ...Object.fromEntries(members), ...long };
  const visitor = new ApiClient(server.baseUrl);
  const answer = await visitor.post('/api/v1/auth/login', body);
  expect(issuesOf(answer)).toHaveLength(20);
  const one = await visitor.post('/api/v1/auth/login', { email, password: 'a password', ...long });
  expect(pathsOf(one)).toEqual([['y'.repeat(100)]]);
});

test('an unauthenticated caller does not learn which members are known', async () => {
  for (const { method, path, security } of dashboard.filter(({ security }) => security?.length !== 0)) {
    const answer = await new ApiClient(server.baseUrl).send(method, `${path}?unheardOf=1`);
    expect(answer.status, `${method} ${path} ${JSON.stringify(security)}`).toBe(401);
  }
});

test('the client protocol ignores unknown members', async () => {
  const application = await world.createApplication();
  const body = {
    appId: application.id,
    clientNonceB64: Buffer.alloc(32).toString('base64'),
    clientVersion: '1.0.0',
    unheardOf: { of: 1 },
  };
  const answer = await new ApiClient(server.baseUrl).post('/api/v1/session/init?unheardOf=1', body);
  expect(answer.status).toBe(200);
});

describe('the document', () => {
  const requestBody = z.object({
    content: z.object({ 'application/json': z.object({ schema: z.looseObject({}) }) }),
  });

  /** All object schemas with members within a schema. */
  function objectsIn(schema: unknown): readonly object[] {
    if (typeof schema !== 'object' || schema === null) return [];
    const inner = Object.values(schema).flatMap(objectsIn);
    return 'properties' in schema && 'type' in schema ? [schema, ...inner] : inner;
  }

  test.each(dashboard.filter((route) => route.requestBody !== undefined))(
    'allows no additional members in objects of the body of $name',
    (route) => {
      const { schema } = requestBody.parse(route.requestBody).content['application/json'];
      const found = objectsIn(schema);
      expect(found.length).toBeGreaterThan(0);
      for (const object of found) expect(object).toHaveProperty('additionalProperties', false);
    },
  );
});
