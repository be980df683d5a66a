import { describe, expect, onTestFinished, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { purgeEvents } from '../../src/services/outbox/purge-events.ts';
import { scanExpiry } from '../../src/services/outbox/scan-expiry.ts';
import { createApiKey } from '../graphql/support.ts';
import { ApiClient } from '../setup/api-client.ts';
import { type EventStream, openEventStream } from '../setup/event-stream.ts';
import { allEvents, idsOf, pageOfEvents, type ShownEvent, typesOf } from '../setup/events.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { deviceClient, setSelfService } from '../setup/self-service.ts';
import { startTestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { forTest, useServer } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import { expectFailure, expectIssue, noLimits } from './support.ts';

const server = useServer({ env: noLimits });
const world = forTest(() => createWorld(server));
const application = forTest(() => world.createApplication());

const pool = () => server.deps.services.database.pool;
const flush = () => server.deps.services.securityLog.flush();
const page = (query?: Parameters<typeof pageOfEvents>[1]) => pageOfEvents(world.client, query);
const all = (query?: Record<string, string | number>) => allEvents(world.client, null, query);
/** The events since those that are there now. */
async function since(act: () => Promise<unknown>): Promise<readonly ShownEvent[]> {
  const before = await all();
  await act();
  return allEvents(world.client, before.at(-1)?.id ?? null);
}
const post = (path: string, body: Record<string, unknown> = {}) => world.client.post(`/api/v1${path}`, body);
const life = (id: string, verb: string, body?: Record<string, unknown>) =>
  post(`/licenses/${id}/${verb}`, body);

describe('an event', () => {
  test('says what happened to what, and what it is then, with a number and without the key', async () => {
    const { id, licenseKey, keyPrefix } = await application.mintOne();
    const told = await since(() => life(id, 'suspend', { reason: 'payment failed' }));
    expect(told).toEqual([
      {
        id: expect.any(String),
        type: 'license.suspended',
        timestamp: expect.any(String),
        sequence: 3,
        applicationId: application.id,
        subject: { kind: 'license', id },
        data: { keyPrefix, status: 'suspended', expiresAt: null, reason: 'payment failed', stopClock: false },
      },
    ]);
    expect(JSON.stringify(await all())).not.toContain(licenseKey);
  });

  test('is there for each change of a license', async () => {
    const { id } = await application.mintOne({ durationSeconds: 86_400 });
    const told = await since(async () => {
      await life(id, 'suspend');
      await life(id, 'reinstate');
      await life(id, 'renew', { seconds: 60, basis: 'from_expiry' });
      await life(id, 'ban');
      await life(id, 'unban');
      await life(id, 'rotate-key', { overlapSeconds: 0 });
      await world.client.patch(`/api/v1/licenses/${id}`, { note: 'a note' });
      await post(`/apps/${application.id}/licenses/bulk`, {
        action: 'setTier',
        ids: [id],
        params: { subscriptionTier: 3 },
      });
      await world.client.delete(`/api/v1/licenses/${id}`);
    });
    expect(typesOf(told)).toEqual([
      'license.suspended',
      'license.reinstated',
      'license.renewed',
      'license.banned',
      'license.unbanned',
      'license.key_rotated',
      'license.changed',
      'license.tier_changed',
      'license.deleted',
    ]);
    expect(told.every(({ subject }) => subject.kind === 'license' && subject.id === id)).toBe(true);
    expect(told.map(({ data }) => data.status)).toEqual([
      'suspended',
      'unused',
      'unused',
      'banned',
      'unused',
      'unused',
      'unused',
      'unused',
      undefined,
    ]);
  });

  test('is not there for a change that was refused', async () => {
    const { id } = await application.mintOne();
    const told = await since(async () => {
      expectFailure(await life(id, 'reinstate'), 409, 'INVALID_TRANSITION');
      await life(newId(), 'suspend');
    });
    expect(told).toEqual([]);
  });

  test('of a mint has the licenses, at most 500', async () => {
    const [event] = await since(() => application.mint({ amount: 2, subscriptionTier: 4 }));
    expect(event).toMatchObject({
      type: 'license.created',
      subject: { kind: 'application', id: application.id },
      data: { amount: 2, subscriptionTier: 4 },
    });
    const minted = await since(() => application.mint({ amount: 501 }));
    expect(minted.map(({ data }) => (data.licenses as unknown[]).length)).toEqual([500, 1]);
    const { rows } = await pool().query('SELECT id, key_prefix FROM licenses WHERE application_id = $1', [
      application.id,
    ]);
    const told = [event, ...minted].flatMap((each) => each?.data.licenses as { id: string }[]);
    expect(idsOf(told).sort()).toEqual(idsOf(rows).sort());
  });

  test('is there for applications, policies, users, bans, API keys and the account', async () => {
    const told = await since(async () => {
      const { body } = await post('/apps/create', { name: 'Another' });
      const { id } = (body as { application: { id: string } }).application;
      await world.client.patch(`/api/v1/apps/${id}/settings`, { version: '2.0.0' });
      const policy = await post(`/apps/${id}/policies`, { code: 'pro', name: 'Pro', durationSeconds: 60 });
      const policyId = (policy.body as { policy: { id: string } }).policy.id;
      await world.client.patch(`/api/v1/apps/${id}/policies/${policyId}`, { name: 'Better' });
      await world.client.delete(`/api/v1/apps/${id}/policies/${policyId}`);
      await world.client.delete(`/api/v1/apps/${id}`);
      const { id: keyId } = await createApiKey(world.client);
      await post(`/account/api-keys/${keyId}/revoke`);
      await post('/account/mask', { mask: 'NEW-XXXXXXXXXXXXX' });
    });
    expect(typesOf(told)).toEqual([
      'application.created',
      'application.changed',
      'policy.created',
      'policy.changed',
      'policy.deleted',
      'application.deleted',
      'api_key.created',
      'api_key.revoked',
      'account.changed',
    ]);
    const [created, changed] = told;
    const deleted = told[5];
    expect(changed?.data).toEqual({ version: '2.0.0' });
    // It outlives its application, and still names it.
    expect(deleted?.subject).toEqual({ kind: 'application', id: created?.applicationId });
    expect(typesOf(await all({ applicationId: created?.applicationId ?? '' }))).toHaveLength(6);
    expect(told.at(-1)).toMatchObject({
      applicationId: null,
      subject: { kind: 'account', id: world.developer.id },
    });
  });
});

describe('what clients do', () => {
  test('is an event when a license is activated and when a device is bound, and not for each validation', async () => {
    const { id, licenseKey, keyPrefix } = await application.mintOne({ durationSeconds: 86_400 });
    await setSelfService([server], id, { deviceLimit: 2 });
    const session = await openSession(server, application);
    const told = await since(async () => {
      await session.ask(validatePath, { licenseKey, hwid: 'laptop' });
      await session.ask(validatePath, { licenseKey, hwid: 'laptop' });
      await session.ask(validatePath, { licenseKey, hwid: 'desktop' });
      await flush();
    });
    expect(told).toMatchObject([
      {
        type: 'license.activated',
        subject: { kind: 'license', id },
        data: { keyPrefix, status: 'active', expiresAt: expect.any(String) },
      },
      {
        type: 'device.bound',
        subject: { kind: 'device' },
        data: { licenseId: id, hwid: 'laptop', keyPrefix },
      },
      { type: 'device.bound', subject: { kind: 'device' }, data: { licenseId: id, hwid: 'desktop' } },
    ]);
    const devices = await sql<{ id: string }>(
      server,
      'SELECT id FROM devices WHERE license_id = $1 ORDER BY id',
      [id],
    );
    expect(told.slice(1).map(({ subject }) => subject.id)).toEqual(idsOf(devices));
  });

  test('is an event when a customer moves or releases a device', async () => {
    const { id, licenseKey } = await application.mintOne();
    await setSelfService([server], id, { deviceLimit: 1 });
    const ask = await deviceClient(server, application, 2);
    const told = await since(async () => {
      await ask('devices.move', { licenseKey, hwid: 'laptop' });
      await ask('devices.list', { licenseKey, hwid: 'laptop' });
    });
    expect(typesOf(told)).toEqual(['license.activated', 'device.moved']);
  });

  test('is an event once an hour for each license and reason that is refused', async () => {
    const [banned, bound] = await application.mint({ amount: 2 });
    if (banned === undefined || bound === undefined) throw new Error('nothing was minted');
    await life(banned.id, 'ban');
    const session = await openSession(server, application);
    await session.ask(validatePath, { licenseKey: bound.licenseKey, hwid: 'laptop' });
    const told = await since(async () => {
      for (let turn = 0; turn < 3; turn += 1) {
        await session.ask(validatePath, { licenseKey: banned.licenseKey, hwid: 'laptop' });
        await session.ask(validatePath, { licenseKey: bound.licenseKey, hwid: 'copy' });
        await session.ask(validatePath, { licenseKey: 'no such key', hwid: 'laptop' });
        await flush();
      }
    });
    // A run at the turn of an hour may have some of them twice.
    const distinct = new Map(told.map((event) => [`${event.subject.id} ${event.data.code}`, event]));
    expect(told.length).toBeLessThanOrEqual(4);
    expect(distinct.size).toBe(2);
    expect(distinct.get(`${banned.id} BANNED`)).toMatchObject({
      type: 'license.refused',
      data: { code: 'BANNED', hwid: 'laptop' },
    });
    expect(distinct.get(`${bound.id} HWID_MISMATCH`)).toMatchObject({
      type: 'license.refused',
      data: { code: 'HWID_MISMATCH', hwid: 'copy' },
    });
  });
});

describe('a page', () => {
  test('goes on where the one before ended, and its numbers have no gaps', async () => {
    await application.settings({ version: '2' });
    await application.settings({ version: '3' });
    const events = await all();
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    const found: ShownEvent[] = [];
    for (let after: string | null = null, hasMore = true; hasMore; ) {
      const one = await page({ after, limit: 1 });
      found.push(...one.events);
      ({ nextCursor: after, hasMore } = one);
    }
    expect(found).toEqual(events);
    const last = events.at(-1)?.id;
    expect(await page({ after: last })).toMatchObject({ events: [], nextCursor: last, hasMore: false });
  });

  test('of some types or of an application leaves out the others, and its cursor passes them', async () => {
    const other = await world.createApplication();
    const { id } = await other.mintOne();
    await life(id, 'suspend');
    await life(id, 'reinstate');
    expect(typesOf(await all({ types: 'license.suspended, application.*' }))).toEqual([
      'application.created',
      'application.created',
      'license.suspended',
    ]);
    expect(typesOf(await all({ applicationId: other.id, types: 'license.*' }))).toEqual([
      'license.created',
      'license.suspended',
      'license.reinstated',
    ]);
    expect(await all({ applicationId: newId() })).toEqual([]);
    const last = (await all()).at(-1)?.id;
    expect(await page({ types: 'user.*' })).toMatchObject({ events: [], nextCursor: last });
    expect(await page({ types: 'license.suspended' })).toMatchObject({ events: [{}], nextCursor: last });
  });

  test.each([
    ['after', 'garbage'],
    ['types', 'license.none'],
    ['types', '*'],
    ['types', ''],
    ['applicationId', 'garbage'],
    ['limit', '0'],
    ['limit', '201'],
    ['wait', '26'],
    ['wait', '-1'],
  ])('with %s=%s is refused', async (name, value) => {
    const answer = await world.client.get(`/api/v1/events?${name}=${value}`);
    expectFailure(answer, 400, 'VALIDATION_FAILED');
    expectIssue(answer, name);
  });

  test("after an event that does not exist, or another developer's, is CURSOR_EXPIRED", async () => {
    const stranger = await createWorld(server);
    await stranger.createApplication();
    const [theirs] = await allEvents(stranger.client);
    for (const after of [newId(), theirs?.id ?? '']) {
      expectFailure(await world.client.get(`/api/v1/events?after=${after}`), 410, 'CURSOR_EXPIRED');
    }
    expect(idsOf(await all())).not.toContain(theirs?.id);
  });
});

describe('a page that waits', () => {
  test('ends with the first event that matches', async () => {
    const { id } = await application.mintOne();
    const { nextCursor } = await page();
    const waiting = page({ after: nextCursor, wait: 25, types: 'license.suspended' });
    await application.settings({ version: '2' });
    await life(id, 'suspend');
    const { events } = await waiting;
    expect(typesOf(events)).toEqual(['license.suspended']);
  });

  test('is empty after its time, and its cursor is the last event that it left out', async () => {
    const last = (await all()).at(-1)?.id;
    expect(await page({ wait: 1, types: 'user.*' })).toMatchObject({
      events: [],
      nextCursor: last,
      hasMore: false,
    });
  });

  test('ends when the API key is revoked', async () => {
    const { id, apiKey } = await createApiKey(world.client);
    const { nextCursor } = await page();
    const client = new ApiClient(server.baseUrl, { bearer: apiKey });
    const waiting = client.get(`/api/v1/events?wait=25&types=user.*&after=${nextCursor}`);
    await expect.poll(() => followers().size).toBe(1);
    await post(`/account/api-keys/${id}/revoke`);
    expectFailure(await waiting, 401, 'UNAUTHENTICATED');
  });

  test('takes one of the places of streams, and leaves it', async () => {
    const { nextCursor } = await page();
    const waiting = Array.from({ length: 20 }, () => page({ wait: 25, after: nextCursor }));
    await expect.poll(() => followers().size).toBe(20);
    expectFailure(
      await world.client.get(`/api/v1/events?wait=25&after=${nextCursor}`),
      429,
      'TOO_MANY_SUBSCRIPTIONS',
    );
    await application.settings({ version: '2' });
    for (const { events } of await Promise.all(waiting))
      expect(typesOf(events)).toEqual(['application.changed']);
    expect(followers().size).toBe(0);
  });

  test('holds no connection: as many as the pool has wait, and other requests are answered', async () => {
    const { nextCursor } = await page();
    const waiting = Array.from({ length: 15 }, () => page({ wait: 25, after: nextCursor }));
    await expect.poll(() => followers().size).toBe(15);
    await application.mintOne();
    for (const { events } of await Promise.all(waiting)) expect(typesOf(events)).toEqual(['license.created']);
  });

  test('is empty when the service stops', async () => {
    const stopping = await startTestServer({ env: noLimits });
    onTestFinished(() => stopping.close());
    const { client } = await createWorld(stopping);
    const waiting = pageOfEvents(client, { wait: 25 });
    await expect.poll(() => stopping.deps.services.securityLogFeed.followers.size).toBe(1);
    stopping.deps.services.securityLogFeed.close();
    expect((await waiting).events).toEqual([]);
  });
});

const followers = () => server.deps.services.securityLogFeed.followers;

/** Follows the account's events, and goes away at the test's end. */
async function follow(variables: Record<string, unknown> = {}, client = world.client): Promise<EventStream> {
  const stream = await openEventStream(client, {
    query: `subscription ($after: ID, $types: [String!], $applicationId: ID) {
      events(after: $after, types: $types, applicationId: $applicationId) {
        id type timestamp sequence applicationId subject { kind id } data } }`,
    variables,
  });
  onTestFinished(() => stream.close());
  return stream;
}

describe('a stream', () => {
  test('has what pages have, after any of them', async () => {
    const { id } = await application.mintOne();
    await life(id, 'suspend');
    const events = await all();
    for (const [index, { id: after }] of events.slice(0, -1).entries()) {
      const rest = events.slice(index + 1);
      expect(await (await follow({ after })).take(rest.length)).toEqual(rest);
    }
  });

  test('begins with the next event, of the wanted types and application', async () => {
    const other = await world.createApplication();
    const { id } = await application.mintOne();
    const streams = await Promise.all([
      follow(),
      follow({ types: ['license.*'] }),
      follow({ applicationId: other.id }),
    ]);
    await application.settings({ version: '2' });
    await life(id, 'suspend');
    await other.settings({ version: '3' });
    const first = await Promise.all(streams.map((stream) => stream.take<ShownEvent>(1)));
    expect(typesOf(first.flat())).toEqual([
      'application.changed',
      'license.suspended',
      'application.changed',
    ]);
    expect(first[2]?.[0]?.applicationId).toBe(other.id);
  });

  test('after an event that does not exist is refused', async () => {
    const stream = await follow({ after: newId() });
    expect(await stream.rest()).toMatchObject([{ errors: [{ extensions: { code: 'CURSOR_EXPIRED' } }] }]);
    expect(followers().size).toBe(0);
  });

  test('ends when the API key is revoked', async () => {
    const { id, apiKey } = await createApiKey(world.client);
    const stream = await follow({}, new ApiClient(server.baseUrl, { bearer: apiKey }));
    await post(`/account/api-keys/${id}/revoke`);
    expect(await stream.rest()).toMatchObject([{ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] }]);
  });
});

describe('old events', () => {
  const day = 24 * 60 * 60 * 1000;

  test('are purged, the newest of them stays a cursor, and those before it expire', async () => {
    const { id } = await application.mintOne();
    const old = await all();
    await sql(
      server,
      "UPDATE events SET created_at = created_at - interval '31 days' WHERE developer_id = $1",
      [world.developer.id],
    );
    await life(id, 'suspend');
    await purgeEvents(pool(), new Date(), 30);
    const [kept, ...more] = await all();
    expect(more).toEqual([]);
    expect(kept).toMatchObject({ type: 'license.suspended', sequence: old.length + 1 });
    expect(await page({ after: old.at(-1)?.id })).toMatchObject({ events: [{ id: kept?.id }] });
    expectFailure(await world.client.get(`/api/v1/events?after=${old[0]?.id}`), 410, 'CURSOR_EXPIRED');
    // Also when none is left: numbers are never used again.
    await purgeEvents(pool(), new Date(Date.now() + 40 * day), 30);
    expect(await page({ after: kept?.id })).toMatchObject({ events: [], nextCursor: kept?.id });
    await life(id, 'reinstate');
    expect(await page({ after: kept?.id })).toMatchObject({ events: [{ sequence: old.length + 2 }] });
  });

  test('are kept while an event before them is younger', async () => {
    await application.settings({ version: '2' });
    const events = await all();
    await sql(server, "UPDATE events SET created_at = created_at - interval '31 days' WHERE id = $1", [
      events.at(-1)?.id,
    ]);
    await purgeEvents(pool(), new Date(), 30);
    expect(await all()).toHaveLength(events.length);
  });
});

describe('the expiry of a license', () => {
  const hour = 60 * 60 * 1000;
  const day = 24 * hour;

  test('is told seven days and a day before, and when it is reached, each once', async () => {
    const start = Date.now() + 400 * day;
    await scanExpiry(pool(), new Date(start));
    const [first, second, stopped, banned] = await application.mint({ amount: 4, durationSeconds: 60 });
    if (!first || !second || !stopped || !banned) throw new Error('nothing was minted');
    const at = (days: number) => new Date(start + days * day);
    await sql(
      server,
      `UPDATE licenses SET status = 'active', activated_at = now(), expires_at = $2 WHERE application_id = $1`,
      [application.id, at(10)],
    );
    await sql(server, 'UPDATE licenses SET grace_seconds = 60 WHERE id = $1', [second.id]);
    await life(stopped.id, 'suspend', { stopClock: true });
    await life(banned.id, 'ban');
    const told = await since(async () => {
      for (let hours = 0; hours <= 11 * 24; hours += 8) {
        const now = new Date(start + hours * hour);
        await Promise.all([scanExpiry(pool(), now), scanExpiry(pool(), now)]);
      }
    });
    const own = told.filter(({ applicationId }) => applicationId === application.id);
    const ids = [first.id, second.id].sort();
    expect(own.map(({ type, subject, data }) => [type, subject.id, data.daysLeft])).toEqual([
      ...ids.map((id) => ['license.expiring', id, 7]),
      ...ids.map((id) => ['license.expiring', id, 1]),
      ...ids.map((id) => ['license.expired', id, undefined]),
    ]);
    const expiry = at(10).toISOString();
    expect(own.every(({ data }) => data.expiresAt === expiry)).toBe(true);
    expect(
      own.find(({ type, subject }) => type === 'license.expired' && subject.id === second.id)?.data,
    ).toMatchObject({
      graceEndsAt: new Date(at(10).getTime() + 60_000).toISOString(),
    });
  });
});

test('an account that is deleted takes its events along', async () => {
  await all();
  const { id } = world.developer;
  await post('/account/delete', { password: world.developer.password, confirm: 'DELETE' });
  const { rows } = await pool().query('SELECT FROM events WHERE developer_id = $1', [id]);
  expect(rows).toEqual([]);
});
