import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freePort, hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { createCallClient } from '../setup/call-client.ts';
import { type Relay, startRelay } from '../setup/relay.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type SeededApplication } from '../setup/world.ts';

// Protocol version 2 on two instances, with one PostgreSQL server and one Redis.
const possible = process.env.TEST_DATABASE_URL !== undefined && hasRedisServer;
const patient = { timeout: 20_000, interval: 20 };

describe.skipIf(!possible)('with two instances,', () => {
  let redis: OwnRedis;
  /** Relays the second instance's connection to Redis, so that only it can lose Redis. */
  let relay: Relay;
  let one: TestServer;
  let two: TestServer;
  let application: SeededApplication;
  let licenseKey: string;
  beforeAll(async () => {
    redis = new OwnRedis(await freePort(), []);
    await redis.start();
    relay = await startRelay(redis.url);
    one = await startTestServer({ database: 'server', env: { REDIS_URL: redis.url } });
    two = await startTestServer({ beside: one, env: { REDIS_URL: relay.url } });
    application = await (await createWorld(one)).createApplication();
    ({ licenseKey } = await application.mintOne());
  });
  afterAll(async () => {
    await two.close();
    await one.close();
    await relay.close();
    await redis.kill();
  });

  const clientOf = (server: TestServer) => createCallClient(server, application);
  /** What each instance says to one request. */
  async function codes(servers: readonly TestServer[]): Promise<unknown[]> {
    const sender = clientOf(one);
    const sent = await sender.seal(sender.plaintext('validate', { licenseKey }));
    return Promise.all(
      servers.map(async (server) => sender.open(sent, await clientOf(server).post(sent.body)).code),
    );
  }

  test('both announce the same key, in the same bytes', async () => {
    expect(await clientOf(two).statement()).toEqual(await clientOf(one).statement());
  });

  test('a request is accepted once, when both receive it at the same time', async () => {
    for (let round = 0; round < 20; round += 1) {
      expect((await codes([one, two, one, two])).sort()).toEqual(['OK', 'REPLAY', 'REPLAY', 'REPLAY']);
    }
  });

  test('one without Redis judges nothing, and says so in a signed answer', async () => {
    const sender = clientOf(one);
    const seen = await sender.seal(sender.plaintext('validate', { licenseKey }));
    expect(sender.open(seen, await clientOf(one).post(seen.body)).code).toBe('OK');
    relay.cut();
    try {
      expect(sender.open(seen, await clientOf(two).post(seen.body)).code).toBe('UNAVAILABLE');
    } finally {
      relay.restore();
    }
    await vi.waitFor(async () => expect(await codes([two])).toEqual(['OK']), patient);
    expect(sender.open(seen, await clientOf(two).post(seen.body)).code).toBe('REPLAY');
  });

  test('a Redis that lost its data makes them forget their keys, so that no recorded request is accepted', async () => {
    const sender = clientOf(one);
    const key = await sender.key();
    const seen = await sender.seal(sender.plaintext('validate', { licenseKey }), { key });
    expect(sender.open(seen, await clientOf(one).post(seen.body)).code).toBe('OK');
    await redis.kill();
    await redis.start();
    await vi.waitFor(async () => expect(await codes([one])).toEqual(['OK']), patient);
    await vi.waitFor(async () => expect(await codes([two])).toEqual(['OK']), patient);
    for (const server of [one, two]) {
      expect(await clientOf(server).post(seen.body)).toMatchObject({
        status: 400,
        error: { code: 'KEY_UNKNOWN' },
      });
      expect((await clientOf(server).key()).notBefore).toBeGreaterThan(key.notBefore);
    }
  });
});
