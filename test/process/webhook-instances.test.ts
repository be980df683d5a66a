import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { noLimits } from '../api/support.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import {
  allowLoopback,
  createWebhook,
  type Receiver,
  startReceiver,
  verify,
} from '../setup/webhook-receiver.ts';
import { createWorld, type SeededApplication, type World } from '../setup/world.ts';

// Three instances on one PostgreSQL server, without Redis.
const patient = { timeout: 60_000, interval: 20 };
const env = { ...noLimits, ...allowLoopback };

describe.skipIf(process.env.TEST_DATABASE_URL === undefined)('with three instances,', () => {
  let all: readonly [TestServer, TestServer, TestServer];
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
    const one = await startTestServer({ database: 'server', env });
    all = [one, await startTestServer({ beside: one, env }), await startTestServer({ beside: one, env })];
  });
  afterAll(async () => {
    for (const server of all.toReversed()) await server.close();
    await receiver.close();
  });

  let world: World;
  let application: SeededApplication;
  let path: string;
  beforeEach(async () => {
    world = await createWorld(all[0]);
    application = await world.createApplication();
    path = `/${crypto.randomUUID()}`;
  });

  test('each event is sent once, and verified across a rotation', async () => {
    const { id, secret } = await createWebhook(world.client, {
      url: receiver.url(path),
      types: ['license.created'],
    });
    const minting = (async () => {
      for (let times = 0; times < 15; times += 1) {
        await Promise.all(Array.from({ length: 4 }, () => application.mintOne()));
      }
    })();
    await vi.waitFor(() => expect(receiver.at(path).length).toBeGreaterThan(5), patient);
    const rotated = await world.client.post(`/api/v1/webhooks/${id}/rotate-secret`);
    expect(rotated.status).toBe(200);
    await minting;
    await vi.waitFor(() => expect(receiver.at(path).length).toBeGreaterThanOrEqual(60), patient);
    await settled(id);
    const messages = receiver.at(path);
    // The receiver still has the old secret.
    const events = messages.map((message) => verify(secret, message));
    expect(events).toHaveLength(60);
    expect(new Set(events.map((event) => event.id)).size).toBe(60);
    expect(new Set(events.map(({ sequence }) => sequence)).size).toBe(60);
    const deliveries = await sql<{ attempts: number; status: string }>(
      all[0],
      'SELECT attempts, status::text FROM webhook_deliveries WHERE webhook_id = $1',
      [id],
    );
    expect(deliveries).toEqual(Array.from({ length: 60 }, () => ({ attempts: 1, status: 'succeeded' })));
  });

  test('an attempt of an instance that died is made again when its claim ends, not before', async () => {
    const { id } = await createWebhook(world.client, { url: receiver.url(path), types: ['*'] });
    await vi.waitFor(() => expect(receiver.at(path).length).toBeGreaterThan(0), patient);
    await settled(id);
    const before = receiver.at(path).length;
    // As an instance leaves it that was killed during the attempt.
    await sql(
      all[0],
      `UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = now(),
         claimed_until = clock_timestamp() + interval '1 hour' WHERE webhook_id = $1`,
      [id],
    );
    for (const { deps } of all) deps.services.webhooks.wake('all');
    await world.client.post(`/api/v1/webhooks/${id}/test`);
    expect(receiver.at(path)).toHaveLength(before + 1);
    await sql(
      all[0],
      `UPDATE webhook_deliveries SET claimed_until = clock_timestamp() - interval '1 second'
       WHERE webhook_id = $1 AND status = 'pending'`,
      [id],
    );
    await settled(id);
    expect(receiver.at(path)).toHaveLength(2 * before + 1);
  });

  test('an attempt that an instance breaks off when it stops is made again at once', async () => {
    const own = await startTestServer({ database: 'server', env });
    try {
      const alone = await createWorld(own);
      receiver.respond(path, () => undefined);
      const { id } = await createWebhook(alone.client, {
        url: receiver.url(path),
        types: ['webhook.created'],
      });
      await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(1), patient);
      // The service does so when it stops; its database stays open for the test.
      await own.deps.services.webhooks.close(performance.now());
      receiver.respond(path, 200);
      const next = await startTestServer({ beside: own, env });
      await vi.waitFor(() => expect(receiver.at(path)).toHaveLength(2), patient);
      await vi.waitFor(async () => {
        expect(
          await sql(next, 'SELECT attempts, status::text FROM webhook_deliveries WHERE webhook_id = $1', [
            id,
          ]),
        ).toEqual([{ attempts: 1, status: 'succeeded' }]);
      }, patient);
      await next.close();
      const ids = receiver.at(path).map(({ headers }) => headers['webhook-id']);
      expect(new Set(ids).size).toBe(1);
    } finally {
      await own.close();
    }
  });

  const settled = (id: string) =>
    vi.waitFor(async () => {
      const pending = await sql(
        all[0],
        "SELECT FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'pending'",
        [id],
      );
      expect(pending).toEqual([]);
    }, patient);
});
