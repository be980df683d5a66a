import { decodeJwt } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { signCookieToken } from '../../src/crypto/cookie-token.ts';
import type { DeveloperId } from '../../src/lib/ids.ts';
import { maintain } from '../../src/services/maintenance.ts';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { noteClock } from '../setup/clock-notes.ts';
import { openEventStream } from '../setup/event-stream.ts';
import { startTestServer } from '../setup/server.ts';
import { logStatements } from '../setup/statements.ts';
import { sql } from '../setup/stored.ts';
import { forTest, useServer } from '../setup/use-world.ts';
import { createWorld, type World } from '../setup/world.ts';
import {
  apiKeyAnswer,
  doneAnswer,
  expectFailure,
  expectSuccess,
  missingId,
  noLimits,
  sessionsAnswer,
} from './support.ts';

const server = useServer({ env: noLimits });
const world = forTest(() => createWorld(server));
const path = '/api/v1/account/sessions';
const revokedAnswer = doneAnswer.extend({ revoked: z.int() });

const listOf = async (client: ApiClient) =>
  expectSuccess(await client.get(path), 200, sessionsAnswer).sessions;
const statusOf = async (client: ApiClient) => (await client.get('/api/v1/auth/me')).status;
const eventsOf = ({ developer }: World) =>
  sql<{ event: string; metadata: unknown }>(
    server,
    'SELECT event, metadata FROM security_log WHERE developer_id = $1 ORDER BY id',
    [developer.id],
  );

/** Another session of the developer, as from another browser. */
async function logIn(of: World = world, on = server, userAgent = 'another browser'): Promise<ApiClient> {
  const headers = { 'User-Agent': userAgent };
  const answer = await new ApiClient(on.baseUrl, { headers }).post('/api/v1/auth/login', of.login);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return new ApiClient(on.baseUrl, { cookie: cookieOf(answer) ?? '' });
}

/** A cookie as the version before sessions signed it. */
async function oldCookie(of: World = world): Promise<ApiClient> {
  const { database, keyring, clock } = server.deps.services;
  const where = { id: of.developer.id };
  const { sessionVersion } = await database.prisma.developer.findUniqueOrThrow({ where });
  const claims = { developerId: of.developer.id as DeveloperId, sessionVersion, sessionId: null };
  return new ApiClient(server.baseUrl, { cookie: await signCookieToken(keyring, clock, claims) });
}

async function byKey(): Promise<ApiClient> {
  const created = await world.client.post('/api/v1/account/api-keys', { name: 'key' });
  return new ApiClient(server.baseUrl, { bearer: expectSuccess(created, 201, apiKeyAnswer).key.apiKey });
}

describe('the list of sessions', () => {
  test('says where and when each began, newest first, and which one asks', async () => {
    const other = await logIn();
    const sessions = await listOf(world.client);
    expect(sessions).toMatchObject([
      { current: false, userAgent: 'another browser', country: null },
      { current: true, ip: world.client.ip },
    ]);
    for (const { createdAt, lastSeenAt, expiresAt } of sessions) {
      expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(7 * 24 * 60 * 60 * 1000);
      expect(Date.parse(lastSeenAt)).toBeGreaterThanOrEqual(Date.parse(createdAt));
    }
    expect((await listOf(other)).map(({ current }) => current)).toEqual([true, false]);
    expect((await listOf(await byKey())).map(({ current }) => current)).toEqual([false, false]);
  });

  test('has only the own sessions', async () => {
    await createWorld(server);
    expect(await listOf(world.client)).toHaveLength(1);
  });

  test('shows a name of a browser up to 300 characters', async () => {
    await logIn(world, server, 'b'.repeat(2_000));
    expect((await listOf(world.client))[0]?.userAgent).toBe('b'.repeat(300));
  });

  test('says when a session was last seen, to the minute', async () => {
    const { sessionUse } = server.deps.services;
    const seen = async () => {
      await world.client.get('/api/v1/auth/me');
      await sessionUse.flush();
      return Date.parse((await listOf(world.client))[0]?.lastSeenAt ?? '');
    };
    const first = await seen();
    server.clock.step(50);
    expect(await seen()).toBe(first);
    server.clock.step(20);
    expect((await seen()) - first).toBeGreaterThanOrEqual(70_000);
  });

  test('leaves out sessions that have expired', async () => {
    const own = await startTestServer({ env: noLimits });
    onTestFinished(() => own.close());
    const before = await createWorld(own);
    own.clock.step(8 * 24 * 60 * 60);
    expect(await listOf(await logIn(before, own))).toHaveLength(1);
  });
});

test('authentication by cookie takes one statement', async () => {
  const statements = logStatements(server.deps.services.database.pool);
  await world.client.get('/api/v1/auth/me');
  statements.take();
  await world.client.get('/api/v1/auth/me');
  // One that authenticates, and one that reads what was asked for.
  expect(statements.take()).toHaveLength(2);
});

describe('revoking a session', () => {
  test('ends it at once, and no other; and is logged', async () => {
    const [stolen, spare] = [await logIn(), await logIn()];
    const session = (await listOf(stolen)).find(({ current }) => current);
    expectSuccess(await world.client.delete(`${path}/${session?.id}`), 200, doneAnswer);
    expectFailure(await stolen.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
    expect(await statusOf(world.client)).toBe(200);
    expect(await statusOf(spare)).toBe(200);
    expect((await listOf(world.client)).map(({ id }) => id)).not.toContain(session?.id);
    expect((await eventsOf(world)).at(-1)).toEqual({ event: 'sessions_revoked', metadata: { revoked: 1 } });
    const again = await world.client.delete(`${path}/${session?.id}`);
    expectFailure(again, 404, 'SESSION_NOT_FOUND');
  });

  test('may end the own one', async () => {
    const [session] = await listOf(world.client);
    expectSuccess(await world.client.delete(`${path}/${session?.id}`), 200, doneAnswer);
    expect(await statusOf(world.client)).toBe(401);
  });

  test("finds neither another developer's nor what is none", async () => {
    const other = await createWorld(server);
    const [foreign] = await listOf(other.client);
    for (const id of [foreign?.id, missingId, 'garbage']) {
      expectFailure(await world.client.delete(`${path}/${id}`), 404, 'SESSION_NOT_FOUND');
    }
    expect(await statusOf(other.client)).toBe(200);
  });

  test('ends its open streams, on another instance too', async () => {
    const application = await world.createApplication();
    const query = 'subscription ($id: ID!) { securityLog(applicationId: $id) { event } }';
    const answer = await new ApiClient(server.baseUrl).post('/api/v1/auth/login', world.login);
    const cookie = cookieOf(answer) ?? '';
    const instances = [server];
    // An embedded database has one instance.
    if (server.deps.services.database.kind === 'server') {
      const beside = await startTestServer({ env: noLimits, beside: server });
      onTestFinished(() => beside.close());
      instances.push(beside);
    }
    const streams = await Promise.all(
      instances.map(({ baseUrl }) =>
        openEventStream(new ApiClient(baseUrl, { cookie }), { query, variables: { id: application.id } }),
      ),
    );
    const [stolen] = await listOf(world.client);
    expectSuccess(await world.client.delete(`${path}/${stolen?.id}`), 200, doneAnswer);
    for (const stream of streams) {
      expect(await stream.rest()).toMatchObject([{ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }]);
    }
  });
});

describe('revoking all other sessions', () => {
  const revokeOthers = (client: ApiClient) => client.post(`${path}/revoke-others`);

  test('ends them and keeps the own one, with its cookie', async () => {
    const others = [await logIn(), await logIn()];
    const answer = await revokeOthers(world.client);
    expect(expectSuccess(answer, 200, revokedAnswer).revoked).toBe(2);
    expect(cookieOf(answer)).toBeUndefined();
    for (const other of others) expect(await statusOf(other)).toBe(401);
    expect(await statusOf(world.client)).toBe(200);
    expect(await listOf(world.client)).toMatchObject([{ current: true }]);
    expect((await eventsOf(world)).at(-1)).toEqual({ event: 'sessions_revoked', metadata: { revoked: 2 } });
  });

  test('ends cookies of the version before sessions too', async () => {
    const old = await oldCookie();
    expect(await statusOf(old)).toBe(200);
    await revokeOthers(world.client);
    expect(await statusOf(old)).toBe(401);
  });

  test('gives a caller with such a cookie a session', async () => {
    const [old, other] = [await oldCookie(), await oldCookie()];
    const answer = await revokeOthers(old);
    expect(expectSuccess(answer, 200, revokedAnswer).revoked).toBe(1);
    for (const client of [old, other, world.client]) expect(await statusOf(client)).toBe(401);
    const renewed = new ApiClient(server.baseUrl, { cookie: cookieOf(answer) ?? '' });
    expect(await listOf(renewed)).toMatchObject([{ current: true }]);
  });

  test('ends all of them for a caller with an API key, which stays good', async () => {
    const key = await byKey();
    const other = await logIn();
    expect(expectSuccess(await revokeOthers(key), 200, revokedAnswer).revoked).toBe(2);
    expect(await statusOf(world.client)).toBe(401);
    expect(await statusOf(other)).toBe(401);
    expect(await statusOf(key)).toBe(200);
  });

  test('from two sessions at once leaves one of them', async () => {
    const clients = [world.client, await logIn()];
    await Promise.all(clients.map(revokeOthers));
    const statuses = await Promise.all(clients.map(statusOf));
    expect(statuses.sort()).toEqual([200, 401]);
  });
});

test('a cookie of the version before sessions stays valid until it expires, and is in no list', async () => {
  const old = await oldCookie();
  expect(await statusOf(old)).toBe(200);
  expect((await listOf(old)).map(({ current }) => current)).toEqual([false]);
  expect((await old.post('/api/v1/apps/create', { name: 'By an old cookie' })).status).toBe(201);
});

test('a new password ends all other sessions, with cookies of the version before', async () => {
  const [other, old] = [await logIn(), await oldCookie()];
  const { password } = world.developer;
  const body = { password, newPassword: `${password}!` };
  const answer = await world.client.patch('/api/v1/account/profile', body);
  expect(answer.status).toBe(200);
  for (const client of [other, old, world.client]) expect(await statusOf(client)).toBe(401);
  const renewed = new ApiClient(server.baseUrl, { cookie: cookieOf(answer) ?? '' });
  expect(await listOf(renewed)).toMatchObject([{ current: true }]);
});

test('a login whose password is changed meanwhile starts no session', async () => {
  const { password } = world.developer;
  const change = { password, newPassword: `${password}!` };
  const [changed, login] = await Promise.all([
    world.client.patch('/api/v1/account/profile', change),
    new ApiClient(server.baseUrl).post('/api/v1/auth/login', world.login),
  ]);
  expect(changed.status).toBe(200);
  const cookie = cookieOf(login);
  if (cookie !== undefined) expect(await statusOf(new ApiClient(server.baseUrl, { cookie }))).toBe(401);
});

describe('a logout', () => {
  test('ends the session: its cookie is refused, and it is not listed', async () => {
    const other = await logIn();
    expect((await other.post('/api/v1/auth/logout')).status).toBe(200);
    expectFailure(await other.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
    expect(await listOf(world.client)).toMatchObject([{ current: true }]);
  });
});

describe('how many sessions an account has', () => {
  test('is limited: a login beyond the limit ends the oldest', async () => {
    const own = await startTestServer({
      env: { ...noLimits, COUNT_LIMITS: 'accountSessions=3' },
    });
    onTestFinished(() => own.close());
    const full = await createWorld(own);
    const clients = [full.client];
    for (let turn = 0; turn < 3; turn++) clients.push(await logIn(full, own));
    expect(await Promise.all(clients.map(statusOf))).toEqual([401, 200, 200, 200]);
    await Promise.all(Array.from({ length: 10 }, () => logIn(full, own)));
    expect(await listOf(await logIn(full, own))).toHaveLength(3);
    const [stored] = await sql<{ count: string }>(own, 'SELECT count(*) FROM account_sessions');
    expect(stored?.count).toBe('3');
  });
});

test('expired sessions are deleted by maintenance, others are kept', async () => {
  const own = await startTestServer();
  onTestFinished(() => own.close());
  const of = await createWorld(own);
  await logIn(of, own);
  const { database, clock, log } = own.deps.services;
  const [oldest] = await listOf(of.client);
  await sql(own, `UPDATE account_sessions SET expires_at = now() - interval '25 hours' WHERE id = $1`, [
    oldest?.id,
  ]);
  await noteClock(database.pool);
  await maintain({ database, clock, log, retentionDays: 90 });
  expect(await sql(own, 'SELECT id FROM account_sessions')).toHaveLength(1);
});

test('a cookie names its session and nothing else about it', async () => {
  const answer = await new ApiClient(server.baseUrl).post('/api/v1/auth/login', world.login);
  const claims = decodeJwt(cookieOf(answer) ?? '');
  expect(Object.keys(claims).sort()).toEqual(['aud', 'exp', 'iat', 'sessionVersion', 'sid', 'sub']);
  const [newest] = await listOf(world.client);
  expect(claims.sid).toBe(newest?.id);
});
