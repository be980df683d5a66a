import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { followerLimits } from '../../src/services/security-log/followers.ts';
import { logsAnswer, missingId, noLimits } from '../api/support.ts';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { type EventStream, type EventStreamRequest, openEventStream } from '../setup/event-stream.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer } from '../setup/server.ts';
import { logStatements } from '../setup/statements.ts';
import { sql } from '../setup/stored.ts';
import { forTest, useServer } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import { createApiKey } from './support.ts';

/** The security log as a stream: what is in it, where it goes on, how it ends, and what it must not cost. */

const server = useServer({ env: noLimits });
const world = forTest(() => createWorld(server));
const application = forTest(() => world.createApplication());
afterEach(() => vi.restoreAllMocks());

const week = 7 * 24 * 60 * 60;
const allFields =
  'id event code applicationId licenseId userId ip country hwid metadata createdAt actor { kind id name }';
const subscription = (fields = allFields) => `
  subscription Follow($applicationId: ID!, $after: ID, $events: [SecurityEvent!], $codes: [String!], $licenseId: ID, $userId: ID) {
    securityLog(applicationId: $applicationId, after: $after, events: $events, codes: $codes, licenseId: $licenseId, userId: $userId) { ${fields} }
  }`;

interface Entry {
  readonly id: string;
  readonly event: string;
  readonly code: string | null;
}

/** Follows the application's log, and goes away at the test's end. */
async function follow(
  client: ApiClient = world.client,
  variables: Record<string, unknown> = {},
  options: Partial<EventStreamRequest> = {},
): Promise<EventStream> {
  const stream = await openEventStream(client, {
    query: subscription(),
    variables: { applicationId: application.id, ...variables },
    ...options,
  });
  onTestFinished(() => stream.close());
  return stream;
}

const events = (entries: readonly Entry[]) => entries.map(({ event }) => event);
const ids = (entries: readonly Entry[]) => entries.map(({ id }) => id);
const followers = (on = server) => on.deps.services.securityLogFeed.followers;

/** The application's whole log as REST lists it, oldest first. */
async function listed(on = server, client = world.client): Promise<Entry[]> {
  await on.deps.services.securityLog.flush();
  const found: Entry[] = [];
  for (let cursor = ''; ; ) {
    const answer = await client.get(`/api/v1/apps/${application.id}/logs?limit=200${cursor}`);
    const { logs, nextCursor } = logsAnswer.parse(answer.body);
    found.push(...logs);
    if (nextCursor === null) return found.reverse();
    cursor = `&cursor=${nextCursor}`;
  }
}

/** Holds a stream to end with this one error, and to complete after it. */
async function expectEnd(stream: EventStream, code: string): Promise<void> {
  const rest = await stream.rest();
  expect(rest).toEqual([
    {
      errors: [{ message: expect.stringMatching(/\w+/), locations: expect.anything(), extensions: { code } }],
    },
  ]);
}

/** Holds a stream to be open still: what happens now arrives on it. */
async function expectOpen(stream: EventStream): Promise<void> {
  await application.settings({ hwidLockEnabled: true });
  expect(events(await stream.take(1))).toEqual(['application_settings_changed']);
}

describe('a stream of the security log', () => {
  let session: SealedSession;
  beforeEach(async () => {
    session = await openSession(server, application);
  });

  test('tells what clients ask and what developers change, with all that the list has', async () => {
    const stream = await follow();
    const license = await application.mintOne();
    await session.ask(validatePath, { licenseKey: license.licenseKey, hwid: 'device-1' });
    expect(events(await stream.take(2))).toEqual(['licenses_created', 'license_validated']);
    await world.client.post(`/api/v1/licenses/${license.id}/ban`);
    await session.ask(validatePath, { licenseKey: license.licenseKey, hwid: 'device-1' });
    const told = await stream.take<Entry>(2);
    expect(told).toEqual((await listed()).slice(-2));
    expect(told).toMatchObject([
      { event: 'license_banned', licenseId: license.id, code: null, metadata: { scope: 'license' } },
      {
        event: 'license_validated',
        licenseId: license.id,
        code: 'BANNED',
        ip: session.client.ip,
        hwid: 'device-1',
      },
    ]);
  });

  test('begins with what happens from now on, or after the entry that it is given', async () => {
    await application.mint({ amount: 2 });
    const before = await listed();
    const fromNow = await follow();
    await application.settings({ version: '2.0.0' });
    const [first] = await fromNow.take<Entry>(1);
    expect(first?.event).toBe('application_settings_changed');
    for (const [index, { id }] of before.entries()) {
      const stream = await follow(world.client, { after: id });
      expect(ids(await stream.take<Entry>(before.length - index))).toEqual([
        ...ids(before.slice(index + 1)),
        first?.id,
      ]);
      stream.close();
    }
    // An id that was purged, or never was, is a place in the order all the same.
    const fromBeginning = await follow(world.client, { after: '00000000-0000-7000-8000-000000000000' });
    expect(ids(await fromBeginning.take<Entry>(before.length + 1))).toEqual([...ids(before), first?.id]);
  });

  test('has the entries that its filters let through, and no others', async () => {
    const license = await application.mintOne();
    const other = await application.mintOne();
    const user = { username: 'grace', password: 'a user password' };
    const made = await world.client.post(`/api/v1/apps/${application.id}/users`, {
      ...user,
      licenseKey: other.licenseKey,
    });
    const {
      user: { id: userId },
    } = made.body as { user: { id: string } };
    await session.ask(validatePath, { licenseKey: license.licenseKey });
    await session.ask(validatePath, { licenseKey: 'no such key' });
    await session.ask('/api/v1/client/login', { ...user });
    await session.ask(validatePath, { licenseKey: other.licenseKey });
    const all = (await listed()) as (Entry & { licenseId: string | null; userId: string | null })[];
    const after = '00000000-0000-7000-8000-000000000000';
    const cases: [Record<string, unknown>, (entry: (typeof all)[number]) => boolean][] = [
      [{ events: ['license_validated'] }, ({ event }) => event === 'license_validated'],
      [
        { events: ['user_created', 'licenses_created'] },
        ({ event }) => /^(user|licenses)_created$/.test(event),
      ],
      [{ codes: ['LICENSE_NOT_FOUND'] }, ({ code }) => code === 'LICENSE_NOT_FOUND'],
      [{ licenseId: license.id }, (entry) => entry.licenseId === license.id],
      [{ userId }, (entry) => entry.userId === userId],
      [
        { userId, events: ['user_logged_in'] },
        (entry) => entry.userId === userId && entry.event === 'user_logged_in',
      ],
    ];
    for (const [filter, matches] of cases) {
      const expected = all.filter(matches);
      expect(expected.length, JSON.stringify(filter)).toBeGreaterThan(0);
      expect(expected.length, JSON.stringify(filter)).toBeLessThan(all.length);
      const stream = await follow(world.client, { after, ...filter });
      expect(ids(await stream.take<Entry>(expected.length)), JSON.stringify(filter)).toEqual(ids(expected));
      stream.close();
    }
  });

  test('finds what a filter lets through behind thousands that it does not', { tags: 'slow' }, async () => {
    await sql(
      server,
      `INSERT INTO security_log (id, developer_id, application_id, event, code)
       SELECT overlay(overlay(overlay(replace(gen_random_uuid()::text, '-', '') placing lpad(to_hex(1700000000000 + n), 12, '0') from 1 for 12) placing '7' from 13 for 1) placing '8' from 17 for 1)::uuid,
              $1, $2, 'license_validated', CASE WHEN n % 3000 = 0 THEN 'EXPIRED' ELSE 'OK' END
       FROM generate_series(1, 9000) AS n`,
      [world.developer.id, application.id],
    );
    const after = '00000000-0000-7000-8000-000000000000';
    const stream = await follow(world.client, { after, codes: ['EXPIRED'] });
    expect((await stream.take<Entry>(3)).map(({ code }) => code)).toEqual(['EXPIRED', 'EXPIRED', 'EXPIRED']);
  });

  test('under load, left and taken up again and again, is the list: in order, without loss or doubles', {
    tags: 'slow',
    timeout: 120_000,
  }, async () => {
    const licenses = await application.mint({ amount: 150 });
    const start = (await listed()).at(-1)?.id;
    const collected: Entry[] = [];
    let last = start;
    let loading = true;
    const read = async () => {
      for (let turn = 0; ; turn++) {
        const total = loading ? null : (await listed()).length;
        const stream = await follow(world.client, { after: last }, { query: subscription('id event code') });
        for (let count = 0; count < 20 + (turn % 7) * 11; count++) {
          const found = await stream.next(loading ? 20_000 : 3_000).catch(() => null);
          if (found === null) break;
          const entry = found.data?.securityLog as Entry;
          collected.push(entry);
          last = entry.id;
        }
        stream.close();
        if (total !== null && collected.length + 2 >= total) return;
      }
    };
    const validate = async (offset: number) => {
      const own = await openSession(server, application);
      for (let index = offset; index < 300; index += 6) {
        await own.ask(validatePath, { licenseKey: licenses[index % 150]?.licenseKey });
      }
    };
    const change = async (offset: number) => {
      for (let index = 0; index < 12; index++) {
        const { id } = licenses[offset * 12 + index] ?? {};
        await world.client.post(`/api/v1/licenses/${id}/tier`, { subscriptionTier: index });
      }
    };
    const reading = read();
    await Promise.all([...[0, 1, 2, 3, 4, 5].map(validate), ...[0, 1, 2, 3].map(change)]);
    loading = false;
    await reading;
    const all = ids(await listed());
    const expected = all.slice(all.indexOf(start ?? '') + 1);
    expect(expected.length).toBe(348);
    expect(ids(collected)).toEqual(expected);
  });

  test('runs no statement for each entry', async () => {
    const stream = await follow();
    const license = await application.mintOne();
    await stream.take(1);
    for (let turn = 0; turn < 60; turn++) await session.ask(validatePath, { licenseKey: license.licenseKey });
    await server.deps.services.securityLog.flush();
    await stream.take(60);
    stream.close();
    const again = logStatements(server.deps.services.database.pool);
    const resumed = await follow(world.client, { after: (await listed()).at(-61)?.id });
    again.take();
    await resumed.take(60);
    expect(again.take().length).toBeLessThan(10);
  });

  /** Adds so many old entries of 10 kB each. */
  const insertLarge = (count: number) =>
    sql(
      server,
      `INSERT INTO security_log (id, developer_id, application_id, event, hwid)
       SELECT overlay(overlay(overlay(replace(gen_random_uuid()::text, '-', '') placing lpad(to_hex(1700000000000 + n), 12, '0') from 1 for 12) placing '7' from 13 for 1) placing '8' from 17 for 1)::uuid,
              $1, $2, 'license_validated', repeat('x', 10000)
       FROM generate_series(1, ${count}) AS n`,
      [world.developer.id, application.id],
    );

  test('gives no more than is on its way once its credential has ended, though more was read', async () => {
    const count = 3_000;
    await insertLarge(count);
    const stream = await follow(world.client, { after: '00000000-0000-7000-8000-000000000000' });
    await stream.take(1);
    const { password } = world.developer;
    await world.client.patch('/api/v1/account/profile', { password, newPassword: 'another long password' });
    const rest = await stream.rest();
    expect(rest.length).toBeLessThan(count - 500);
    expect(rest.at(-1)?.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    expect(rest.slice(0, -1).every(({ errors }) => errors === undefined)).toBe(true);
  });

  test('that nobody reads holds a few entries, and reads on when somebody does', {
    tags: 'slow',
    timeout: 60_000,
  }, async () => {
    // A kernel may have 40 MB on their way, as Linux does where it has the memory.
    const count = 12_000;
    await insertLarge(count);
    const statements = logStatements(server.deps.services.database.pool);
    const stream = await follow(world.client, { after: '00000000-0000-7000-8000-000000000000' });
    let reads = 0;
    const readsUntilNow = () => {
      reads += statements
        .take()
        .filter((text) => /FROM security_log\s+WHERE application_id/.test(text)).length;
      return reads;
    };
    await vi.waitFor(
      async () => {
        const before = readsUntilNow();
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        expect(readsUntilNow()).toBe(before);
      },
      { timeout: 20_000 },
    );
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(count / 100 / 2 + 30);
    expect(new Set(ids(await stream.take<Entry>(count))).size).toBe(count);
  });
});

describe('a stream ends', () => {
  test('with UNAUTHENTICATED when its cookie is logged out, and no other does', async () => {
    const { email, password } = world.developer;
    server.clock.step(1);
    const other = cookieOf(await world.client.post('/api/v1/auth/login', { email, password }));
    const key = await createApiKey(world.client);
    const [ended, second, byOther, byKey] = await Promise.all([
      follow(),
      follow(),
      follow(world.client.with({ cookie: other ?? '' })),
      follow(new ApiClient(server.baseUrl, { bearer: key.apiKey })),
    ]);
    await world.client.post('/api/v1/auth/logout');
    await Promise.all([expectEnd(ended, 'UNAUTHENTICATED'), expectEnd(second, 'UNAUTHENTICATED')]);
    const elsewhere = world.client.with({ cookie: other ?? '' });
    await elsewhere.patch(`/api/v1/apps/${application.id}/settings`, { hwidLockEnabled: true });
    expect(events(await byOther.take(1))).toEqual(['application_settings_changed']);
    expect(events(await byKey.take(1))).toEqual(['application_settings_changed']);
  });

  test('on a logout over GraphQL too', async () => {
    const stream = await follow();
    await world.client.post('/graphql', { query: 'mutation { logout { success } }' });
    await expectEnd(stream, 'UNAUTHENTICATED');
  });

  test('not on a logout that carries no cookie, or one that is not good', async () => {
    const stream = await follow();
    await world.client.with({ cookie: 'a.b.c' }).post('/api/v1/auth/logout');
    await expectOpen(stream);
  });

  test('with UNAUTHENTICATED when the password changes', async () => {
    const stream = await follow();
    const answer = await world.client.patch('/api/v1/account/profile', {
      password: world.developer.password,
      newPassword: 'another long password',
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    await expectEnd(stream, 'UNAUTHENTICATED');
  });

  test('with UNAUTHENTICATED when its API key is revoked, and no other does', async () => {
    const [key, other] = [await createApiKey(world.client), await createApiKey(world.client)];
    const by = (bearer: string) => new ApiClient(server.baseUrl, { bearer });
    const [stream, stays] = [await follow(by(key.apiKey)), await follow(by(other.apiKey))];
    const answer = await world.client.post(`/api/v1/account/api-keys/${key.id}/revoke`);
    expect(answer.status).toBe(200);
    await expectEnd(stream, 'UNAUTHENTICATED');
    await expectOpen(stays);
  });

  describe('of an API key', () => {
    const keys = '/api/v1/account/api-keys';
    const by = (bearer: string) => new ApiClient(server.baseUrl, { bearer });

    test('with UNAUTHENTICATED when its token is replaced, and not while that is good', async () => {
      const key = await createApiKey(world.client);
      const stream = await follow(by(key.apiKey));
      const stays = await world.client.post(`${keys}/${key.id}/rotate`, { overlapSeconds: 60 });
      expect(stays.status).toBe(200);
      await expectOpen(stream);
      await world.client.post(`${keys}/${key.id}/rotate`, { overlapSeconds: 60 });
      await expectEnd(stream, 'UNAUTHENTICATED');
    });

    test('with UNAUTHENTICATED when it expires', async () => {
      const key = await createApiKey(world.client);
      const stream = await follow(by(key.apiKey));
      await sql(server, `UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1`, [
        key.id,
      ]);
      await application.settings({ hwidLockEnabled: true });
      await expectEnd(stream, 'UNAUTHENTICATED');
    });

    test.each([
      ['scopes', { scopes: ['logs:read'] }],
      ['networks', { allowedCidrs: ['10.0.0.0/8'] }],
    ])(
      'by a connection that breaks off when its %s change, so that it begins again',
      async (_what, change) => {
        const key = await createApiKey(world.client);
        const stream = await follow(by(key.apiKey));
        await application.settings({ hwidLockEnabled: true });
        const [entry] = await stream.take<Entry>(1);
        expect((await world.client.patch(`${keys}/${key.id}`, change)).status).toBe(200);
        await expect(stream.rest()).rejects.toThrow(/terminated|ended without/);
        await expectOpen(await follow(by(key.apiKey), { after: entry?.id }));
      },
    );

    test('not when its name changes', async () => {
      const key = await createApiKey(world.client);
      const stream = await follow(by(key.apiKey));
      expect((await world.client.patch(`${keys}/${key.id}`, { name: 'renamed' })).status).toBe(200);
      await expectOpen(stream);
    });

    test('with INSUFFICIENT_SCOPE when it begins again without the scope', async () => {
      const key = await createApiKey(world.client);
      const stream = await follow(by(key.apiKey));
      await world.client.patch(`${keys}/${key.id}`, { scopes: ['licenses:read'] });
      await expect(stream.rest()).rejects.toThrow(/terminated|ended without/);
      const refused = await (await follow(by(key.apiKey))).rest();
      expect(refused).toMatchObject([{ errors: [{ extensions: { code: 'INSUFFICIENT_SCOPE' } }] }]);
    });
  });

  test('with UNAUTHENTICATED when the account is deleted', async () => {
    const stream = await follow();
    const { password } = world.developer;
    await world.client.post('/api/v1/account/delete', { password, confirm: 'DELETE' });
    await expectEnd(stream, 'UNAUTHENTICATED');
  });

  test('with APP_NOT_FOUND when the application is deleted', async () => {
    const stream = await follow();
    expect((await world.client.delete(`/api/v1/apps/${application.id}`)).status).toBe(200);
    await expectEnd(stream, 'APP_NOT_FOUND');
  });

  test('with UNAUTHENTICATED when its cookie expires, though nothing happens', { tags: 'slow' }, async () => {
    const own = await startTestServer({ env: noLimits });
    onTestFinished(() => own.close());
    const seeded = await createWorld(own);
    const { id } = await seeded.createApplication();
    const stream = await openEventStream(seeded.client, {
      query: subscription(),
      variables: { applicationId: id },
    });
    own.clock.step(week - 60);
    await expect(stream.next(6_000)).rejects.toThrow('Nothing came');
    own.clock.step(60);
    expect(await stream.next()).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
    expect(await stream.next()).toBeNull();
  });

  test('though the message of a revocation is lost', async () => {
    const key = await createApiKey(world.client);
    const stream = await follow(new ApiClient(server.baseUrl, { bearer: key.apiKey }));
    await sql(server, 'UPDATE api_keys SET revoked_at = now() WHERE id = $1', [key.id]);
    await expectEnd(stream, 'UNAUTHENTICATED');
  });

  test('by a connection that breaks off, when the service stops, as does every later one', async () => {
    const own = await startTestServer({ env: noLimits });
    onTestFinished(() => own.close());
    const seeded = await createWorld(own);
    const request = {
      query: subscription(),
      variables: { applicationId: (await seeded.createApplication()).id },
    };
    const streams = await Promise.all([1, 2, 3].map(() => openEventStream(seeded.client, request)));
    expect(followers(own).size).toBe(3);
    own.deps.services.securityLogFeed.close();
    for (const stream of streams) await expect(stream.rest()).rejects.toThrow(/terminated|ended without/);
    await expect(openEventStream(seeded.client, request).then((stream) => stream.rest())).rejects.toThrow();
    expect(followers(own).size).toBe(0);
    expect((await seeded.client.get('/health')).status).toBe(200);
  });

  test('and lets go of everything when its reader goes away', async () => {
    const before = followers().size;
    const streams = await Promise.all([1, 2, 3].map(() => follow()));
    expect(followers().size).toBe(before + 3);
    for (const stream of streams) stream.close();
    await vi.waitFor(() => expect(followers().size).toBe(before), { timeout: 10_000 });
  });
});

describe('who may not follow', () => {
  test.each([
    ['nobody', 'UNAUTHENTICATED', () => ({ client: world.client.with({ cookie: 'a.b.c' }) })],
    [
      "another developer's application",
      'APP_NOT_FOUND',
      async () => ({ client: (await createWorld(server)).client }),
    ],
    ['an application that is none', 'APP_NOT_FOUND', () => ({ variables: { applicationId: missingId } })],
    ['a text that is no id', 'APP_NOT_FOUND', () => ({ variables: { applicationId: 'photo-lab' } })],
    ['after what is no id', 'VALIDATION_FAILED', () => ({ variables: { after: 'yesterday' } })],
    ['too many codes', 'VALIDATION_FAILED', () => ({ variables: { codes: Array(51).fill('OK') } })],
  ])('%s is %s', async (_who, code, make) => {
    const before = followers().size;
    const { client, variables }: { client?: ApiClient; variables?: Record<string, unknown> } = await make();
    const [only, ...more] = await (await follow(client, variables)).rest();
    expect(more).toEqual([]);
    expect(only?.errors?.map(({ extensions }) => extensions.code)).toEqual([code]);
    expect(followers().size).toBe(before);
  });

  test('more than twenty streams of one account are refused, until one is closed; other accounts are not', async () => {
    const streams = await Promise.all(Array.from({ length: followerLimits.perDeveloper }, () => follow()));
    const [refused] = await (await follow()).rest();
    expect(refused?.errors).toMatchObject([{ extensions: { code: 'TOO_MANY_SUBSCRIPTIONS' } }]);
    expect(refused?.errors?.[0]?.message).toContain('20');
    const other = await createWorld(server);
    const { id } = await other.createApplication();
    const stranger = await follow(other.client, { applicationId: id });
    await expect(stranger.next(500)).rejects.toThrow('Nothing came');
    streams[7]?.close();
    await vi.waitFor(async () => {
      const stream = await follow();
      await expect(stream.next(500)).rejects.toThrow('Nothing came');
    }, 10_000);
  });
});

describe('an answer as an event stream', () => {
  test.each(['GET', 'POST'] as const)(
    'is not kept, not gathered up, and has its request id, by %s',
    async (method) => {
      const { status, headers } = await follow(world.client, {}, { method });
      expect(status).toBe(200);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      expect(headers.get('content-encoding')).toBeNull();
    },
  );

  test('is refused with words where it is not accepted, and nothing is opened', async () => {
    const before = followers().size;
    for (const accept of [
      'application/json',
      'application/graphql-response+json',
      'application/json, text/plain',
    ]) {
      const client = world.client.with({ headers: { Accept: accept } });
      const variables = { applicationId: application.id };
      const answer = await client.post('/graphql', { query: subscription(), variables });
      expect(answer.status, accept).toBe(406);
      expect(answer.body).toEqual({
        errors: [
          {
            message: expect.stringContaining('Accept: text/event-stream'),
            extensions: { code: 'NOT_ACCEPTABLE' },
          },
        ],
      });
    }
    expect(followers().size).toBe(before);
  });

  test('of a query is its one result', async () => {
    const stream = await openEventStream(world.client, { query: '{ me { name } }' });
    expect(await stream.rest()).toEqual([{ data: { me: { name: 'Ada' } } }]);
  });

  test('of a mutation by GET is refused, and nothing is done', async () => {
    const client = world.client.with({ headers: { Accept: 'text/event-stream' } });
    const answer = await client.get(
      `/graphql?query=${encodeURIComponent('mutation { logout { success } }')}`,
    );
    expect(answer.status).toBe(405);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test('may be read by pages of allowed origins alone', async () => {
    const allowed = await startTestServer({
      env: { ...noLimits, CORS_ORIGINS: 'https://dashboard.example' },
    });
    onTestFinished(() => allowed.close());
    const seeded = await createWorld(allowed);
    const variables = { applicationId: (await seeded.createApplication()).id };
    const from = async (origin: string) => {
      const client = seeded.client.with({ headers: { Origin: origin, Accept: 'text/event-stream' } });
      const search = new URLSearchParams({ query: subscription(), variables: JSON.stringify(variables) });
      const gone = new AbortController();
      const { headers } = await client.open('GET', `/graphql?${search}`, undefined, gone.signal);
      gone.abort();
      return headers.get('access-control-allow-origin');
    };
    expect(await from('https://dashboard.example')).toBe('https://dashboard.example');
    expect(await from('https://elsewhere.example')).toBeNull();
  });

  test.each([
    ['QUERY_TOO_WIDE', `{ a: __typename ${Array.from({ length: 60 }, (_, n) => `a${n}: id`).join(' ')} }`],
    [
      'QUERY_TOO_COMPLEX',
      '{ application { licenses(first: 200) { edges { node { users(first: 200) { edges { node { id } } } } } } } }',
    ],
  ])('keeps within the limits of documents: %s', async (code, selection) => {
    const query = `subscription { securityLog(applicationId: "${application.id}") ${selection} }`;
    const [refused] = await (await follow(world.client, {}, { query, variables: {} })).rest();
    expect(refused?.errors?.[0]?.extensions.code).toBe(code);
  });

  test.each(['@skip(if: true)', '@include(if: false)'])(
    'needs its one field: %s is no way to leave it out',
    async (directive) => {
      const query = `subscription { securityLog(applicationId: "${application.id}") ${directive} { id } }`;
      const [refused] = await (await follow(world.client, {}, { query, variables: {} })).rest();
      expect(refused?.errors?.[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    },
  );
});

describe('what goes wrong while a stream is open', () => {
  /** Has reading the log fail in this way, as long as `failing` says. */
  function failReading(error: Error, failing: () => boolean): void {
    const { pool } = server.deps.services.database;
    const original = pool.query;
    vi.spyOn(pool, 'query').mockImplementation((...args: unknown[]) => {
      if (failing() && String(args[0]).includes('FROM security_log')) return Promise.reject(error);
      return Reflect.apply(original, pool, args);
    });
  }

  test('is told as everywhere: a request id and nothing else', async () => {
    const stream = await follow();
    failReading(new Error('a detail of ours'), () => true);
    await application.settings({ hwidLockEnabled: true });
    const [only, ...more] = await stream.rest();
    expect(more).toEqual([]);
    const requestId = stream.headers.get('x-request-id');
    expect(only?.errors).toMatchObject([{ extensions: { code: 'INTERNAL', requestId } }]);
    expect(JSON.stringify(only)).not.toContain('a detail of ours');
    expect(
      server.logLines.some((line) => line.includes(String(requestId)) && line.includes('a detail of ours')),
    ).toBe(true);
  });

  test('is waited for when the database is away', async () => {
    const stream = await follow();
    let away = true;
    failReading(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), () => away);
    await application.settings({ hwidLockEnabled: true });
    await expect(stream.next(1_000)).rejects.toThrow('Nothing came');
    away = false;
    expect(await stream.next()).toMatchObject({
      data: { securityLog: { event: 'application_settings_changed' } },
    });
  });
});
