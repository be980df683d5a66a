import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { ApiClient } from '../setup/api-client.ts';
import { createServerDatabase } from '../setup/database.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { expectFailure } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => server.close());

const visitor = (headers: Record<string, string> = {}) => new ApiClient(server.baseUrl, { headers });
/** Log lines of a request, without its request line. */
const linesOf = (requestId: string, { logLines }: TestServer = server) =>
  logLines.filter((line) => line.includes(requestId) && !line.includes('"msg":"request"'));

describe('an unknown route', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/api'],
    ['GET', '/api/v1'],
    ['GET', '/api/v1/'],
    ['GET', '/api/v1/nothing'],
    ['GET', '/api/v2/apps/'],
    ['GET', '/api/v1/auth/register'],
    ['PUT', '/api/v1/auth/login'],
    ['POST', '/health'],
    ['DELETE', '/api/v1/apps/'],
    ['GET', '/api/v1/licenses'],
    ['PATCH', '/api/v1/apps/create'],
    ['GET', '/API/V1/APPS/'],
    ['GET', '/api/v1/%61pps//'],
    ['GET', '/.env'],
    ['GET', '/%00'],
    ['GET', '/%E0%A4%A'],
    ['GET', '/api/v1/<script>alert(1)</script>'],
  ])('%s %s', async (method, path) => {
    expectFailure(await visitor().send(method, path), 404, 'ROUTE_NOT_FOUND');
  });

  test('is JSON even for a browser, and not cacheable or sniffable', async () => {
    const answer = await visitor({ Accept: 'text/html' }).get('/nothing<b>');
    expectFailure(answer, 404, 'ROUTE_NOT_FOUND');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});

test('every response has its own request id, unless the client sends a valid one', async () => {
  const client = visitor({ 'X-Request-Id': 'not one' });
  const answers = [
    await client.get('/health'),
    await client.get('/nothing'),
    await client.get('/api/v1/auth/me'),
  ];
  const ids = answers.map((answer) => answer.headers.get('x-request-id'));
  expect(new Set(ids).size).toBe(3);
  expect(ids).not.toContain('not one');
});

describe('a client that disconnects before its request is complete', () => {
  const declared = ['Content-Length: 50', '{"a'] as const;
  const chunked = ['Transfer-Encoding: chunked', '3\r\n{"a\r\n'] as const;

  test.each([
    ['/api/v1/session/init', declared],
    ['/api/v1/session/init', chunked],
    ['/api/v1/licenses/validate', declared],
    ['/api/v1/auth/login', chunked],
    ['/graphql', chunked],
  ])('is not logged as an outage: POST %s with %j', async (path, [header, part]) => {
    const before = server.logLines.length;
    const { hostname, port } = new URL(server.baseUrl);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    const lines = ['Host: a', 'Content-Type: application/json', 'Expect: 100-continue', header];
    socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    // The service responds that it waits for the body.
    await once(socket, 'data');
    socket.write(part);
    socket.resetAndDestroy();
    // The service tells of its own work as well, at the level of information.
    const said = () =>
      server.logLines
        .slice(before)
        .map((line) => z.looseObject({ level: z.number() }).parse(JSON.parse(line)))
        .filter(({ level }) => level !== 30);
    await vi.waitFor(() => expect(said()).not.toEqual([]), { timeout: 10_000 });
    expect(said()).toMatchObject([
      { level: 20, msg: 'client disconnected before sending its whole request' },
    ]);
  });
});

describe('an unexpected error', () => {
  const secret = 'SELECT hunter2 FROM developers at /srv/secret.ts:12';

  test('is a 500 with the request id and no details, which are in the log', async () => {
    const world = await createWorld(server);
    vi.spyOn(server.deps.services.changes, 'tell').mockRejectedValueOnce(new TypeError(secret));
    const answer = await world.client.post('/api/v1/apps/create', { name: 'Photo Lab' });
    const { requestId = '', error } = expectFailure(answer, 500, 'INTERNAL');
    expect(requestId).toBe(answer.headers.get('x-request-id'));
    expect(JSON.stringify([answer.body, [...answer.headers]])).not.toMatch(/hunter2|SELECT|TypeError|\.ts/);
    expect(error).toBe('Internal error. It has been logged.');
    const [line = '', ...others] = linesOf(requestId);
    expect(others).toEqual([]);
    expect(JSON.parse(line)).toMatchObject({
      level: 50,
      requestId,
      err: { type: 'TypeError', message: secret },
    });
  });

  test('of the database is not repeated either', async () => {
    const broken = await startTestServer();
    try {
      const world = await createWorld(broken);
      await broken.deps.services.database.prisma.$executeRaw`ALTER TABLE applications RENAME TO mislaid`;
      for (const answer of [
        await world.client.get('/api/v1/apps/'),
        await world.client.post('/api/v1/apps/create', { name: 'Photo Lab' }),
        await world.client.delete('/api/v1/apps/0198c3a0-0000-7000-8000-000000000000'),
        await world.client.post('/api/v1/licenses/0198c3a0-0000-7000-8000-000000000000/ban'),
      ]) {
        const { requestId = '' } = expectFailure(answer, 500, 'INTERNAL');
        expect(JSON.stringify(answer.body)).not.toMatch(/applications|relation|select|prisma|P20|\.ts/i);
        expect(linesOf(requestId, broken)).toHaveLength(1);
      }
    } finally {
      await broken.close();
    }
  });

  test('leaves no password and no hash in the log, although the database quotes the refused row', async () => {
    const broken = await startTestServer();
    try {
      const { prisma } = broken.deps.services.database;
      await prisma.$executeRaw`ALTER TABLE developers ADD CONSTRAINT refuses CHECK (name <> 'refused')`;
      await prisma.$executeRaw`ALTER TABLE api_keys ADD CONSTRAINT refuses CHECK (name <> 'refused')`;
      const world = await createWorld(broken);
      const password = 'correct horse battery';
      const answers = [
        await new ApiClient(broken.baseUrl).post('/api/v1/auth/register', {
          email: 'refused@example.com',
          password,
          name: 'refused',
        }),
        await world.client.post('/api/v1/account/api-keys', { name: 'refused' }),
      ];
      for (const answer of answers) expectFailure(answer, 500, 'INTERNAL');
      const log = broken.logLines.join('');
      expect(log).toContain('request failed unexpectedly');
      for (const hidden of [password, '$argon2id$', '\\\\x', 'service_live_'])
        expect(log).not.toContain(hidden);
    } finally {
      await broken.close();
    }
  });

  test('in a transaction rolls it back', async () => {
    const broken = await startTestServer();
    try {
      const { prisma } = broken.deps.services.database;
      const world = await createWorld(broken);
      const application = await world.createApplication();
      const { id } = await application.mintOne();
      await prisma.$executeRaw`ALTER TABLE security_log ADD CONSTRAINT refuses CHECK (event = '') NOT VALID`;
      const before = await counts();
      for (const answer of [
        await new ApiClient(broken.baseUrl).post('/api/v1/auth/register', {
          email: 'nobody@example.com',
          password: 'correct horse',
          name: 'Nobody',
        }),
        await world.client.post('/api/v1/apps/create', { name: 'Unrecorded' }),
        await world.client.patch(`/api/v1/apps/${application.id}/settings`, {
          version: '2',
          responseMessages: { OK: 'x' },
        }),
        await world.client.post('/api/v1/licenses/create', {
          applicationId: application.id,
          amount: 5,
          durationSeconds: 0,
        }),
        await world.client.post(`/api/v1/licenses/${id}/ban`, { scope: 'hwid_and_ip', ip: '203.0.113.1' }),
        await world.client.post('/api/v1/account/api-keys', { name: 'Unrecorded' }),
        await world.client.delete(`/api/v1/apps/${application.id}`),
      ]) {
        expectFailure(answer, 500, 'INTERNAL');
      }
      expect(await counts(), 'a change without its log entry is no change').toEqual(before);

      async function counts() {
        return {
          developers: await prisma.developer.count(),
          applications: await prisma.application.findMany({
            select: { id: true, version: true, responseMessages: true },
          }),
          licenses: await prisma.license.findMany({ select: { id: true, status: true } }),
          bans: await prisma.ban.count(),
          apiKeys: await prisma.apiKey.count(),
        };
      }
    } finally {
      await broken.close();
    }
  });
});

describe('if a dependency is unavailable', () => {
  test('a database that refuses connections is 503, and health still responds', async () => {
    const world = await createWorld(server);
    const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.9:5432'), { code: 'ECONNREFUSED' });
    const { pool } = server.deps.services.database;
    vi.spyOn(pool, 'connect').mockImplementation(() => Promise.reject(refused));
    vi.spyOn(pool, 'query').mockImplementation(() => Promise.reject(refused));
    for (const answer of [
      await world.client.get('/api/v1/auth/me'),
      await visitor().post('/api/v1/auth/login', { email: 'a@example.com', password: 'x' }),
      await visitor().post('/api/v1/auth/register', {
        email: 'away@example.com',
        password: 'correct horse',
        name: 'Ada',
      }),
      await visitor({ Authorization: `Bearer service_live_${'A'.repeat(43)}` }).get('/api/v1/apps/'),
    ]) {
      expectFailure(answer, 503, 'UNAVAILABLE');
      expect(JSON.stringify(answer.body)).not.toMatch(/ECONN|10\.0\.0\.9/);
      expect(linesOf(answer.headers.get('x-request-id') ?? '')).toHaveLength(1);
    }
    expect((await visitor().get('/health')).status).toBe(200);
    vi.restoreAllMocks();
    expect((await world.client.get('/api/v1/auth/me')).status).toBe(200);
  });
});

describe.skipIf(process.env.TEST_DATABASE_KIND !== 'server')(
  'if the PostgreSQL server becomes unavailable',
  () => {
    /** A relay to the server that can be interrupted. */
    async function createCable(target: URL) {
      const { hostname, port } = target;
      const sockets = new Set<Socket>();
      const cable = createServer((near) => {
        const far = connect(Number(port || 5432), hostname);
        for (const [socket, other] of [
          [near, far],
          [far, near],
        ] as const) {
          sockets.add(socket);
          socket.on('error', () => other.destroy());
          socket.on('close', () => {
            sockets.delete(socket);
            other.destroy();
          });
        }
        near.pipe(far);
        far.pipe(near);
      });
      const listen = (port: number) =>
        new Promise<void>((resolve) => cable.listen(port, '127.0.0.1', () => resolve()));
      await listen(0);
      const address = cable.address();
      if (address === null || typeof address === 'string') throw new Error('the cable has no port');
      const cut = async () => {
        const closed = new Promise((resolve) => cable.close(resolve));
        for (const socket of sockets) socket.destroy();
        await closed;
      };
      return { port: address.port, cut, mend: () => listen(address.port) };
    }

    test('every route is 503 until the server is back, and then works without a restart', async () => {
      const database = await createServerDatabase();
      const url = new URL(database.url);
      const cable = await createCable(url);
      url.hostname = '127.0.0.1';
      url.port = String(cable.port);
      const service = await startTestServer({
        env: { DATABASE_URL: url.href, SERVICE_SECRET: 'a secret of at least thirty-two bytes' },
      });
      try {
        const world = await createWorld(service);
        const application = await world.createApplication();
        const requests = [
          () => world.client.get('/api/v1/auth/me'),
          () => world.client.get('/api/v1/apps/'),
          () => world.client.post('/api/v1/apps/create', { name: 'Photo Lab' }),
          () => world.client.patch(`/api/v1/apps/${application.id}/settings`, { version: '2' }),
          () => world.client.post('/api/v1/auth/login', world.login),
        ];
        await cable.cut();
        for (let round = 0; round < 2; round++) {
          for (const request of requests) {
            const answer = await request();
            expectFailure(answer, 503, 'UNAVAILABLE');
            expect(JSON.stringify(answer.body)).not.toContain(String(cable.port));
          }
        }
        await cable.mend();
        // The service refuses at once until it has noticed that the server is back.
        await vi.waitFor(async () => expect((await world.client.get('/api/v1/auth/me')).status).toBe(200), {
          timeout: 10_000,
        });
        for (const request of requests) expect((await request()).status).toBeLessThan(300);
        expect(service.logLines.join('')).not.toContain('a secret of at least');
      } finally {
        await service.close();
        await cable.cut();
        await database.drop();
      }
    });
  },
);
