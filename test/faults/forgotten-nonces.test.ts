import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { noLimits } from '../api/support.ts';
import { deferred, hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

test.skipIf(!hasRedisServer)(
  'an envelope that waits for the database while Redis loses all nonces is not accepted as a new one',
  async () => {
    const redis = await OwnRedis.start();
    const server = await startTestServer({ database: 'memory', env: { ...noLimits, REDIS_URL: redis.url } });
    try {
      const application = await (await createWorld(server)).createApplication();
      const { licenseKey } = await application.mintOne();
      const session = await openSession(server, application);
      const envelope = session.seal(session.inner({ licenseKey }));
      const first = await session.client.post(validatePath, envelope);
      expect(session.open(first)).toMatchObject({ code: 'OK' });

      const { caches, store } = server.deps.services;
      const gate = deferred<void>();
      const waits = deferred<void>();
      const load = caches.application;
      const slow = vi.spyOn(caches, 'application').mockImplementationOnce(async (id) => {
        waits.resolve();
        await gate.promise;
        return load(id);
      });
      const replay = session.client.post(validatePath, envelope);
      await waits.promise;
      const { epoch } = store;
      await redis.kill();
      await redis.start();
      await vi.waitFor(() => expect(store.epoch).not.toBe(epoch), { timeout: 20_000, interval: 20 });
      while (!store.isAvailable()) await sleep(20);
      gate.resolve();
      const { status, body } = await replay;
      expect({ status, body }).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
      slow.mockRestore();
    } finally {
      await server.close();
    }
  },
  60_000,
);

test.skipIf(!hasRedisServer)(
  'an envelope that Redis has forgotten after a restart from an older dump is not accepted again',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'latchkey-redis-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const redis = await OwnRedis.start('--dir', directory);
    const server = await startTestServer({ database: 'memory', env: { ...noLimits, REDIS_URL: redis.url } });
    try {
      const application = await (await createWorld(server)).createApplication();
      const { licenseKey } = await application.mintOne();
      const session = await openSession(server, application);
      const operator = new Redis(redis.url);
      await operator.save();
      operator.disconnect();
      const envelope = session.seal(session.inner({ licenseKey }));
      const first = await session.client.post(validatePath, envelope);
      expect(session.open(first)).toMatchObject({ code: 'OK' });
      await redis.kill();
      await redis.start();
      const again = await vi.waitFor(
        async () => {
          const answer = await session.client.post(validatePath, envelope);
          expect(answer.status).not.toBe(503);
          return answer;
        },
        { timeout: 20_000, interval: 20 },
      );
      expect(again).toMatchObject({ status: 401, body: { code: 'SESSION_EXPIRED' } });
      const next = await openSession(server, application);
      const fresh = await next.client.post(validatePath, next.seal(next.inner({ licenseKey })));
      expect(next.open(fresh)).toMatchObject({ code: 'OK' });
    } finally {
      await server.close();
    }
  },
  60_000,
);

test.skipIf(!hasRedisServer)(
  'envelopes that Redis has forgotten after copying older data as a replica and being promoted are not accepted again',
  { tags: 'slow', timeout: 60_000 },
  async () => {
    const redis = await OwnRedis.start();
    const server = await startTestServer({ database: 'memory', env: { ...noLimits, REDIS_URL: redis.url } });
    try {
      const application = await (await createWorld(server)).createApplication();
      const { licenseKey } = await application.mintOne();
      const older = await OwnRedis.copyOf(redis);
      await older.promote();
      // The first replica of a Redis changes its replication id. The service has noticed that three polls later.
      await sleep(3_000);
      const session = await openSession(server, application);
      const recorded = Array.from({ length: 20 }, () => session.seal(session.inner({ licenseKey })));
      for (const envelope of recorded) {
        expect(session.open(await session.client.post(validatePath, envelope))).toMatchObject({ code: 'OK' });
      }
      await redis.replicate(older);
      const { store } = server.deps.services;
      await vi.waitFor(() => expect(store.isAvailable()).toBe(false), { timeout: 20_000, interval: 5 });
      await redis.promote();
      await vi.waitFor(() => expect(store.isAvailable()).toBe(true), { timeout: 20_000, interval: 5 });
      for (const envelope of recorded) {
        const again = await session.client.post(validatePath, envelope);
        expect(again).toMatchObject({ status: 401, body: { code: 'SESSION_EXPIRED' } });
      }
      const next = await openSession(server, application);
      const fresh = await next.client.post(validatePath, next.seal(next.inner({ licenseKey })));
      expect(next.open(fresh)).toMatchObject({ code: 'OK' });
    } finally {
      await server.close();
    }
  },
);
