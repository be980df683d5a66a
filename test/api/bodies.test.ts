import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { clientPaths } from '../../src/protocol/constants.ts';
import { ApiClient } from '../setup/api-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type World } from '../setup/world.ts';
import {
  apiKeyAnswer,
  blindAnswer,
  expectFailure,
  expectIssue,
  expectSuccess,
  noLimits,
  paddedTo,
  sendRaw,
} from './support.ts';

let server: TestServer;
let world: World;
let authorization: string;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  world = await createWorld(server);
  const answer = await world.client.post('/api/v1/account/api-keys', { name: 'bodies' });
  authorization = `Bearer ${expectSuccess(answer, 201, apiKeyAnswer).key.apiKey}`;
});
afterAll(() => server.close());

const kibibyte = 1024;
const most = { sealed: 64 * kibibyte, nobody: 100 * kibibyte, developer: 8 * kibibyte * kibibyte };

const contract = z
  .object({
    paths: z.record(
      z.string(),
      z.record(
        z.string(),
        z.object({
          operationId: z.string(),
          security: z.array(z.unknown()).default([]),
          requestBody: z.unknown().optional(),
          responses: z.record(z.string(), z.unknown()),
        }),
      ),
    ),
  })
  .parse(JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')));

interface Route {
  readonly method: string;
  readonly path: string;
  readonly authenticated: boolean;
  /** The documented statuses. */
  readonly statuses: readonly string[];
}

/** All documented routes with a body. */
const routes = Object.entries(contract.paths).flatMap(([path, operations]) =>
  Object.entries(operations).flatMap(([method, operation]): [string, Route][] => {
    if (operation.requestBody === undefined) return [];
    const route = {
      method: method.toUpperCase(),
      path: `/api/v1${path.replaceAll(/\{\w+\}/g, '0198c3a0-0000-7000-8000-000000000000')}`,
      authenticated: operation.security.length > 0,
      statuses: Object.keys(operation.responses),
    };
    return [[operation.operationId, route]];
  }),
);
const sealedPaths: ReadonlySet<string> = new Set(Object.values(clientPaths));
const mostOf = ({ path, authenticated }: Route): number =>
  authenticated ? most.developer : sealedPaths.has(path) ? most.sealed : most.nobody;

interface Unfinished {
  readonly method: string;
  readonly path: string;
  /** A declared length without any bytes, or endless chunks. */
  readonly declared?: number;
  readonly chunked?: number;
  readonly credential?: string;
}

/** Sends the beginning of a request and reads the status and code of the response before the body ends. */
async function answerMeanwhile({ method, path, declared, chunked = 0, credential }: Unfinished) {
  const { hostname, port } = new URL(server.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  try {
    const fields = [
      ...['Host: x', 'Content-Type: application/json', 'X-Forwarded-For: 10.9.8.7'],
      declared === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${declared}`,
      ...(credential === undefined ? [] : [`Authorization: ${credential}`]),
    ];
    socket.write(`${method} ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
    for (let left = chunked; left > 0; left -= 64 * kibibyte) {
      const chunk = ' '.repeat(Math.min(left, 64 * kibibyte));
      socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    }
    let text = '';
    while (!/"code":"\w+"/.test(text)) text += String((await once(socket, 'data'))[0]);
    return {
      status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]),
      code: /"code":"(\w+)"/.exec(text)?.[1],
    };
  } finally {
    socket.destroy();
  }
}

const tooLarge = { status: 413, code: 'PAYLOAD_TOO_LARGE' };
const nobody = { status: 401, code: 'UNAUTHENTICATED' };

describe('every route with a body', () => {
  test('documents the refusal of large bodies', () => {
    expect(routes.length).toBeGreaterThan(15);
    for (const [name, { statuses }] of routes) expect(statuses, name).toContain('413');
  });

  test.each(routes)(
    '%s refuses a declared length beyond its limit before the first byte',
    async (_name, route) => {
      const sender = route.authenticated ? { credential: authorization } : {};
      const declared = mostOf(route) + 1;
      expect(await answerMeanwhile({ ...route, ...sender, declared })).toEqual(tooLarge);
    },
  );

  test.each(routes)('%s refuses a chunked body beyond its limit before its end', async (_name, route) => {
    const sender = route.authenticated ? { credential: authorization } : {};
    const chunked = mostOf(route) + 1;
    expect(await answerMeanwhile({ ...route, ...sender, chunked })).toEqual(tooLarge);
  });

  test.each(routes.filter(([, { authenticated }]) => authenticated))(
    '%s reads no body of an unauthenticated request',
    async (_name, route) => {
      for (const credential of [undefined, 'Bearer service_live_none']) {
        const sender = credential === undefined ? {} : { credential };
        expect(await answerMeanwhile({ ...route, ...sender, declared: 1 })).toEqual(nobody);
        expect(await answerMeanwhile({ ...route, ...sender, chunked: 1 })).toEqual(nobody);
      }
    },
  );
});

describe('an undocumented body', () => {
  test.each([
    ['of a path that is none', 'POST', '/api/v1/nothing', 404, 'ROUTE_NOT_FOUND'],
    ['of a method that is none', 'PUT', '/api/v1/apps/create', 404, 'ROUTE_NOT_FOUND'],
    ['outside the API', 'POST', '/nothing', 404, 'ROUTE_NOT_FOUND'],
    ['of a route without one', 'DELETE', '/api/v1/apps/0', 401, 'UNAUTHENTICATED'],
  ])('%s is not read', async (_what, method, path, status, code) => {
    for (const body of [{ declared: 1 }, { declared: most.developer }, { chunked: 1 }]) {
      expect(await answerMeanwhile({ method, path, ...body })).toEqual({ status, code });
    }
  });

  test('has the public limit even for a developer who logs in again', async () => {
    const path = '/api/v1/auth/login';
    const answer = await world.client.post(path, paddedTo(most.nobody + 1, world.login));
    expect(expectFailure(answer, 413, 'PAYLOAD_TOO_LARGE').error).toContain('102,400 bytes');
    expect((await world.client.post(path, paddedTo(most.nobody, world.login))).status).toBe(200);
  });
});

const lists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

describe('a developer’s body', () => {
  const create = '/api/v1/apps/create';
  const excessive: [string, string, string][] = [
    ['more than 100,000 values', JSON.stringify({ name: 'x', x: Array(100_000).fill(1) }), '100,000 values'],
    ['lists in lists', lists(4_000_000), '100,000 values'],
    ['lists that do not end', '['.repeat(8_000_000), '100,000 values'],
    ['objects in objects', objects(1_000_000), '100,000 values'],
    ['lists in what no route takes', `{"name":"x","x":${lists(4_000_000)}}`, '100,000 values'],
    ['a text of megabytes', JSON.stringify({ name: 'x'.repeat(7_000_000) }), '102,400 bytes'],
    ['a text of megabytes that does not end', `{"name":"${'x'.repeat(7_000_000)}`, '102,400 bytes'],
    [
      'a member name of several megabytes',
      JSON.stringify({ name: 'x', ['x'.repeat(7_000_000)]: 1 }),
      '102,400 bytes',
    ],
  ];

  test.each(excessive)('with %s is refused, with or without a declared length', async (_what, body, said) => {
    const headers = {
      'Content-Type': 'application/json',
      'X-Forwarded-For': world.client.ip,
      Authorization: authorization,
    };
    for (const chunked of [false, true]) {
      const answer = await sendRaw(server, { method: 'POST', path: create, headers, body, chunked });
      expect(expectFailure(answer, 413, 'PAYLOAD_TOO_LARGE').error).toContain(said);
    }
  });

  test('can have 100,000 values, and a text of 100 KiB that looks like more', async () => {
    // Values are the object, the member name, the list and its items; the first item counts with the list.
    // The body is read, then refused because of an unknown member.
    const values = { name: 'Many', x: Array(100_000 - 3).fill(1) };
    expectIssue(await world.client.post(create, values), 'x');
    const text = { name: 'Long', x: '[{"\\",,'.repeat(10_000) };
    expectIssue(await world.client.post(create, text), 'x');
  });

  test('can have ten thousand blind keys with notes up to its limit', { tags: 'slow' }, async () => {
    const { id: applicationId } = await world.createApplication();
    const keysWithNotes = (characters: number) =>
      Array.from({ length: 10_000 }, (_, index) => ({
        licenseKeyHash: randomBytes(32).toString('hex'),
        licenseKeyPrefix: 'ABCDE-FGHJK',
        durationSeconds: 86_400,
        noteCiphertextB64: 'A'.repeat(index === 0 ? 8192 : characters),
        subscriptionTier: 3,
      }));
    const body = paddedTo(most.developer, { applicationId, keys: keysWithNotes(600) });
    expect(body).toHaveLength(most.developer);
    const { keys } = expectSuccess(
      await world.client.post('/api/v1/licenses/create-blind', body),
      201,
      blindAnswer,
    );
    expect(keys).toHaveLength(10_000);
  });

  /** The longest response time of /health during this work, in milliseconds. */
  async function longestWaitDuring(work: Promise<unknown>): Promise<number> {
    let done = false;
    const finished = work.finally(() => {
      done = true;
    });
    let longest = 0;
    while (!done) {
      const asked = performance.now();
      expect((await fetch(`${server.baseUrl}/health`)).status).toBe(200);
      longest = Math.max(longest, performance.now() - asked);
    }
    await finished;
    return longest;
  }

  test('does not delay other requests by its parsing', { tags: 'slow' }, async () => {
    const body = `{"name":"x","x":${lists(4_000_000)}}`;
    const before = performance.now();
    JSON.parse(body);
    const parsing = performance.now() - before;
    const from = [
      ...[authorization, undefined].map((credential) => ({ credential, path: create })),
      { credential: undefined, path: '/api/v1/auth/login' },
    ];
    for (const { credential, path } of from) {
      const headers = {
        'Content-Type': 'application/json',
        ...(credential !== undefined && { Authorization: credential }),
      };
      const answer = sendRaw(server, { method: 'POST', path, headers, body, chunked: true });
      expect(await longestWaitDuring(answer)).toBeLessThan(parsing / 2);
      expect((await answer).status).toBe(path === create && credential === undefined ? 401 : 413);
    }
  });
});

describe.each([
  ['asks for sealed requests', 'true'],
  ['admits plain requests', 'false'],
])('if the service %s', (_which, CRYPTO_ENFORCE) => {
  let other: TestServer;
  beforeAll(async () => {
    other = await startTestServer({ env: { ...noLimits, CRYPTO_ENFORCE } });
  });
  afterAll(() => other.close());

  test.each(Object.entries(clientPaths))(
    '%s refuses 64 KiB of nested JSON of every kind',
    async (_name, path) => {
      const client = new ApiClient(other.baseUrl);
      const nestings = [lists(32_000), '['.repeat(65_000), objects(10_000), '{"a":'.repeat(13_000)];
      const names = [
        'sessionId',
        'ciphertextB64',
        'appId',
        'licenseKey',
        'username',
        'hwid',
        '__proto__',
        'x',
      ];
      const members = names.flatMap((name) =>
        [lists(32_000), objects(10_000)].map((deep) => `{"${name}":${deep}}`),
      );
      for (const body of [...nestings, ...members]) {
        const answer = await client.post(path, body);
        const what = `${body.slice(0, 30)}: ${JSON.stringify(answer.body).slice(0, 300)}`;
        expect(answer.status, what).toBe(400);
        expect(answer.body, what).toMatchObject({
          success: false,
          code: expect.stringMatching(/^(?:VALIDATION_FAILED|CRYPTO_REQUIRED)$/),
        });
      }
      expect(other.logLines.filter((line) => line.includes('unexpectedly'))).toEqual([]);
    },
  );
});
