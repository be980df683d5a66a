import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { logsAnswer, noLimits } from '../api/support.ts';
import { hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { type EventStream, openEventStream } from '../setup/event-stream.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type SeededApplication, type World } from '../setup/world.ts';
import { createApiKey } from './support.ts';

// Two instances need a PostgreSQL server for both, and a Redis to stop and start.
const possible = process.env.TEST_DATABASE_KIND === 'server' && hasRedisServer;

interface Entry {
  readonly id: string;
  readonly event: string;
  readonly code: string | null;
}

describe.skipIf(!possible)('a stream of one of two instances', () => {
  let redis: OwnRedis;
  let here: TestServer;
  let there: TestServer;
  let world: World;
  let application: SeededApplication;
  /** The same developer, asking the other instance. */
  let client: ApiClient;

  beforeEach(async () => {
    redis = await OwnRedis.start();
    const env = { ...noLimits, REDIS_URL: redis.url };
    here = await startTestServer({ env });
    there = await startTestServer({ env, beside: here });
    world = await createWorld(here);
    application = await world.createApplication();
    client = new ApiClient(there.baseUrl, { cookie: await loggedIn() });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await there.close();
    await here.close();
  });

  /** Another session of the developer's. */
  async function loggedIn(): Promise<string> {
    here.clock.step(1);
    const { email, password } = world.developer;
    const cookie = cookieOf(await world.client.post('/api/v1/auth/login', { email, password }));
    if (cookie === undefined) throw new Error('logging in set no cookie');
    return cookie;
  }

  async function follow(by = client, variables: Record<string, unknown> = {}): Promise<EventStream> {
    const stream = await openEventStream(by, {
      query:
        'subscription ($id: ID!, $after: ID) { securityLog(applicationId: $id, after: $after) { id event code } }',
      variables: { id: application.id, ...variables },
    });
    onTestFinished(() => stream.close());
    return stream;
  }

  const validate = async (on: TestServer, licenseKey: string) => {
    const session = await openSession(on, application);
    return async () => void (await session.ask(validatePath, { licenseKey }));
  };
  const codesOf = ({ errors = [] }: { errors?: readonly { extensions: { code: string } }[] | undefined }) =>
    errors.map(({ extensions }) => extensions.code);

  test('has what happens on either, in order, without loss or doubles, left and taken up again', async () => {
    const { licenseKey } = await application.mintOne();
    const [first] = await (
      await follow(client, { after: '00000000-0000-7000-8000-000000000000' })
    ).take<Entry>(1);
    const validating = await Promise.all([here, there, here, there].map((on) => validate(on, licenseKey)));
    let last = first?.id;
    const collected: Entry[] = [];
    const read = async () => {
      while (collected.length < 4 * 40 + 15 + 1) {
        const stream = await follow(client, { after: last });
        const [entry, ...more] = await stream.take<Entry>(1);
        for (const one of [entry, ...more]) if (one !== undefined) collected.push(one);
        for (let count = 0; count < 25; count++) {
          const found = await stream.next(3_000).catch(() => null);
          if (found === null) break;
          collected.push(found.data?.securityLog as Entry);
        }
        last = collected.at(-1)?.id;
        stream.close();
      }
    };
    await Promise.all([
      read(),
      ...validating.map(async (ask) => {
        for (let turn = 0; turn < 40; turn++) await ask();
      }),
      (async () => {
        for (let turn = 0; turn < 15; turn++)
          await application.settings({ version: `1.0.${turn}` }).catch(() => {});
      })(),
    ]);
    await here.deps.services.securityLog.flush();
    await there.deps.services.securityLog.flush();
    const answer = await world.client.get(`/api/v1/apps/${application.id}/logs?limit=200`);
    const all = logsAnswer.parse(answer.body).logs.reverse();
    expect(collected.map(({ id }) => id)).toEqual(
      all.slice(all.findIndex(({ id }) => id === first?.id) + 1).map(({ id }) => id),
    );
  }, 90_000);

  test('waits for what the other one could not write yet, instead of passing it', async () => {
    const { licenseKey } = await application.mintOne();
    const ask = await validate(there, licenseKey);
    // The first use changes the license. The watch of an instance removes a license from its cache up to a second after
    // it was created. What is read afterwards stays in memory.
    await ask();
    await sleep(2_000);
    await ask();
    await there.deps.services.securityLog.flush();
    const stream = await follow(world.client);
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { pool } = there.deps.services.database;
    const connect = pool.connect;
    vi.spyOn(pool, 'connect').mockImplementation(async (...args: unknown[]) => {
      await gate;
      return Reflect.apply(connect, pool, args);
    });
    await ask();
    await application.settings({ hwidLockEnabled: true });
    await expect(stream.next(3_000)).rejects.toThrow('Nothing came');
    open();
    const told = await stream.take<Entry>(2);
    expect(told.map(({ event }) => event)).toEqual(['license_validated', 'application_settings_changed']);
  });

  test('ends when the other one logs its cookie out, and no other does', async () => {
    const cookie = await loggedIn();
    const [ended, stays] = [await follow(client.with({ cookie })), await follow()];
    await world.client.with({ cookie }).post('/api/v1/auth/logout');
    expect((await ended.rest()).map(codesOf)).toEqual([['UNAUTHENTICATED']]);
    await application.settings({ hwidLockEnabled: true });
    expect((await stays.take<Entry>(1))[0]?.event).toBe('application_settings_changed');
  });

  test('ends when the other one revokes its API key, or deletes the application', async () => {
    const key = await createApiKey(world.client);
    const byKey = await follow(new ApiClient(there.baseUrl, { bearer: key.apiKey }));
    await world.client.post(`/api/v1/account/api-keys/${key.id}/revoke`);
    expect((await byKey.rest()).map(codesOf)).toEqual([['UNAUTHENTICATED']]);
    const stream = await follow();
    await world.client.delete(`/api/v1/apps/${application.id}`);
    expect((await stream.rest()).map(codesOf)).toEqual([['APP_NOT_FOUND']]);
  });

  test('ends when the other one logs its cookie out or revokes its API key, though Redis loses the message', async () => {
    const { store } = here.deps.services;
    const lost = vi.spyOn(store, 'publish').mockResolvedValue();
    // Longer than this test waits: what ends a stream is read in the database, and not found by a slow look.
    Object.assign(there.deps.services.securityLogFeed, { pollMilliseconds: 60_000 });
    const cookie = await loggedIn();
    const key = await createApiKey(world.client);
    const byCookie = await follow(client.with({ cookie }));
    const byKey = await follow(new ApiClient(there.baseUrl, { bearer: key.apiKey }));
    await world.client.with({ cookie }).post('/api/v1/auth/logout');
    await world.client.post(`/api/v1/account/api-keys/${key.id}/revoke`);
    for (const stream of [byCookie, byKey])
      expect((await stream.rest()).map(codesOf)).toEqual([['UNAUTHENTICATED']]);
    expect(lost).toHaveBeenCalled();
  });

  test('goes on while Redis is away, only later; and a logout of that time ends it when Redis is back', async () => {
    const cookie = await loggedIn();
    const [ended, byKey] = [
      await follow(client.with({ cookie })),
      await follow(new ApiClient(there.baseUrl, { bearer: (await createApiKey(world.client)).apiKey })),
    ];
    await redis.kill();
    await application.settings({ hwidLockEnabled: true });
    for (const stream of [ended, byKey]) {
      expect((await stream.take<Entry>(1))[0]?.event).toBe('application_settings_changed');
    }
    await world.client.with({ cookie }).post('/api/v1/auth/logout');
    await redis.start();
    // Ended by the logout, or because it may have been missed: then coming back is refused, or needs the cookie.
    expect([[], [['UNAUTHENTICATED']]]).toContainEqual((await ended.rest()).map(codesOf));
    await application.settings({ hwidLockEnabled: false });
    expect((await byKey.take<Entry>(1))[0]?.event).toBe('application_settings_changed');
  }, 60_000);
});
