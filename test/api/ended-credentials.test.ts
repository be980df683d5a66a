import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { openEventStream } from '../setup/event-stream.ts';
import { totpCodeOf } from '../setup/second-factor.ts';
import { sql } from '../setup/stored.ts';
import { forTest, useServer } from '../setup/use-world.ts';
import { createWorld, type World } from '../setup/world.ts';
import { apiKeyAnswer, expectFailure, expectSuccess, noLimits } from './support.ts';

/**
 * Requests that begin while a credential is good and end after it is not. Whoever has stolen one can send the head of requests
 * in advance, and their bodies when its owner has locked them out.
 */

const server = useServer({ env: noLimits });
const world: World = forTest(() => createWorld(server));
const newPassword = 'a new password of the owner';

const inFlight = async () =>
  Number(/^latchkey_requests_in_flight (\d+)$/m.exec(await server.deps.telemetry.page())?.[1]);

interface Held {
  /** Sends the body. @returns the status and the error's code */
  finish(): Promise<{ readonly status: number; readonly code?: string | undefined }>;
}

/** A request of which the service has the head: its credential was checked, and its body is awaited. */
async function hold(
  method: string,
  path: string,
  credential: http.OutgoingHttpHeaders,
  body: object,
): Promise<Held> {
  const text = JSON.stringify(body);
  const outgoing = http.request(`${server.baseUrl}/api/v1${path}`, {
    method,
    agent: false,
    headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text), ...credential },
  });
  onTestFinished(() => void outgoing.destroy());
  outgoing.flushHeaders();
  const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject);
  });
  await vi.waitFor(async () => expect(await inFlight()).toBeGreaterThan(0), { timeout: 30_000 });
  // The credential is looked up in a few milliseconds. If it takes longer, the request is refused like any later one.
  await sleep(300);
  return {
    finish: async () => {
      outgoing.end(text);
      const response = await answered;
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const { code } = z
        .object({ code: z.string().optional() })
        .parse(JSON.parse(Buffer.concat(chunks).toString()));
      return { status: response.statusCode ?? 0, code };
    },
  };
}

const cookie = (value: string) => ({ Cookie: `service_session=${value}` });

/** Another session of the developer. */
async function stolenSession(): Promise<{ readonly cookie: string; readonly client: ApiClient }> {
  const answer = await new ApiClient(server.baseUrl).post('/api/v1/auth/login', world.login);
  const value = cookieOf(answer) ?? '';
  return { cookie: value, client: new ApiClient(server.baseUrl, { cookie: value }) };
}

/** The owner sets a new password, which ends all other sessions. @returns the owner's new session */
async function lockOut(): Promise<ApiClient> {
  const change = { password: world.developer.password, newPassword };
  const answer = await world.client.patch('/api/v1/account/profile', change);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return new ApiClient(server.baseUrl, { cookie: cookieOf(answer) ?? '' });
}

const statusOf = async (client: ApiClient) => (await client.get('/api/v1/auth/me')).status;

const acts = [
  ['POST', '/account/sessions/revoke-others', {}],
  ['POST', '/account/api-keys', { name: 'foothold' }],
  ['POST', '/apps/create', { name: 'Another' }],
  ['POST', '/account/require-confirmation', { requireConfirmation: true, password: newPassword }],
] as const;

describe('a request that began before its session ended', () => {
  test.each(acts)('is refused: %s %s', async (method, path, body) => {
    const stolen = await stolenSession();
    const held = await hold(method, path, cookie(stolen.cookie), body);
    const owner = await lockOut();
    expect(await held.finish()).toEqual({ status: 401, code: 'UNAUTHENTICATED' });
    expect(await statusOf(stolen.client)).toBe(401);
    expect(await statusOf(owner)).toBe(200);
    expect(await sql(server, 'SELECT FROM api_keys WHERE developer_id = $1', [world.developer.id])).toEqual(
      [],
    );
  });

  test('does not turn TOTP on with the secret of somebody else', async () => {
    const stolen = await stolenSession();
    const { password } = world.developer;
    const begun = await stolen.client.post('/api/v1/account/totp/begin', { password });
    const { secret } = z.object({ secret: z.string() }).parse(begun.body);
    const totpCode = totpCodeOf(secret, server.clock.now());
    const held = await hold('POST', '/account/totp/confirm', cookie(stolen.cookie), { totpCode });
    const owner = await lockOut();
    expect((await held.finish()).status).toBeGreaterThanOrEqual(400);
    // Nor later: the new password made it void.
    expectFailure(await owner.post('/api/v1/account/totp/confirm', { totpCode }), 409, 'INVALID_TRANSITION');
  });
});

test('of two sessions that end all others at once, one remains', async () => {
  for (let round = 0; round < 5; round += 1) {
    const two = [await stolenSession(), await stolenSession()].map(({ client }) => client);
    const answers = await Promise.all(
      two.map((client) => client.post('/api/v1/account/sessions/revoke-others')),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401]);
    expect((await Promise.all(two.map(statusOf))).toSorted()).toEqual([200, 401]);
  }
});

test.skipIf(process.env.TEST_DATABASE_KIND !== 'server')(
  'a session that is ended while its request waits for a lock creates no key',
  async () => {
    const stolen = await stolenSession();
    const { pool } = server.deps.services.database;
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    const owner = await pool.connect();
    try {
      // As the owner's request does, which ends all other sessions.
      await owner.query('BEGIN');
      await owner.query('SELECT FROM developers WHERE id = $1 FOR NO KEY UPDATE', [world.developer.id]);
      const asked = stolen.client.post('/api/v1/account/api-keys', { name: 'foothold' });
      await expect
        .poll(async () => (await owner.query(waiting)).rowCount, { timeout: 10_000 })
        .toBeGreaterThan(0);
      await owner.query('UPDATE developers SET session_version = session_version + 1 WHERE id = $1', [
        world.developer.id,
      ]);
      await owner.query('COMMIT');
      expectFailure(await asked, 401, 'UNAUTHENTICATED');
    } finally {
      owner.release();
    }
  },
);

describe('an API key', () => {
  const keys = '/api/v1/account/api-keys';
  const createKey = async (members: object = {}) =>
    expectSuccess(await world.client.post(keys, { name: 'key', ...members }), 201, apiKeyAnswer).key;
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

  test('that was revoked during a request changes nothing', async () => {
    const { id, apiKey } = await createKey();
    const held = await hold('POST', '/apps/create', bearer(apiKey), { name: 'Another' });
    expect((await world.client.post(`${keys}/${id}/revoke`)).status).toBe(200);
    expect(await held.finish()).toEqual({ status: 401, code: 'UNAUTHENTICATED' });
  });

  test('whose rights were changed during a request changes nothing', async () => {
    const { id, apiKey } = await createKey();
    const held = await hold('POST', '/apps/create', bearer(apiKey), { name: 'Another' });
    expect((await world.client.patch(`${keys}/${id}`, { scopes: ['events:read'] })).status).toBe(200);
    expect(await held.finish()).toEqual({ status: 503, code: 'UNAVAILABLE' });
  });

  test('whose rights were changed gets no more events on a stream that is open', async () => {
    const { id, apiKey } = await createKey({ scopes: ['events:read', 'logs:read'] });
    const stream = await openEventStream(new ApiClient(server.baseUrl, { bearer: apiKey }), {
      query: 'subscription { events { type } }',
    });
    onTestFinished(() => stream.close());
    expect((await world.client.patch(`${keys}/${id}`, { scopes: ['account:read'] })).status).toBe(200);
    await world.createApplication();
    // The connection is closed. What it may read now is decided when it is opened again.
    await expect(stream.rest()).rejects.toThrow();
  });
});
