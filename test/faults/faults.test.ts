import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { noLimits } from '../api/support.ts';
import { freePort, OwnRedis } from '../ephemeral/support.ts';
import { findPostgresql, OwnPostgresql } from '../setup/own-postgresql.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { Load, type Stage } from './load.ts';

const programs = findPostgresql();
const canRun = programs !== null && spawnSync('redis-server', ['--version']).status === 0;
if (!canRun) {
  const missing = 'PostgreSQL and redis-server have to be installed to start and break them';
  if (process.env.CI !== undefined) throw new Error(missing);
  process.stderr.write(`Left out: the faults of PostgreSQL and Redis (${missing}).\n`);
}

const shownApiKey = z.object({ key: z.object({ apiKey: z.string() }) });

/** How long an outage lasts, in milliseconds: longer than every limit of time, so that all of them are met. */
const long = 8_000;
const short = 2_500;

describe.skipIf(!canRun)('under load', () => {
  let postgresql: OwnPostgresql;
  let redis: OwnRedis;
  let server: TestServer;
  let stage: Stage;
  const recoveries: string[] = [];

  beforeAll(async () => {
    postgresql = await OwnPostgresql.start(programs ?? '');
    redis = new OwnRedis(await freePort(), []);
    await redis.start();
    server = await startTestServer({
      database: 'memory',
      env: {
        ...noLimits,
        DATABASE_URL: postgresql.url,
        REDIS_URL: redis.url,
        SERVICE_SECRET: randomBytes(32).toString('base64'),
      },
    });
    const world = await createWorld(server);
    const answer = await world.client.post('/api/v1/account/api-keys', { name: 'minting' });
    const { apiKey } = shownApiKey.parse(answer.body).key;
    stage = { server, world, application: await world.createApplication(), apiKey };
  });
  afterAll(async () => {
    process.stderr.write(`Served again (in all, its longest request): ${recoveries.join('; ')}.\n`);
    await server.close();
    await redis.kill();
    await postgresql.remove();
  });

  const faults: readonly {
    readonly name: string;
    readonly lasts: number;
    readonly begin: () => Promise<void> | void;
    readonly end: () => Promise<void> | void;
    /** What is away meanwhile, for long enough to tell. */
    readonly away?: 'postgresql' | 'redis';
  }[] = [
    {
      name: 'PostgreSQL restarts',
      lasts: 0,
      begin: () => postgresql.stop(),
      end: () => postgresql.start(),
    },
    {
      name: 'PostgreSQL crashes',
      lasts: 0,
      begin: () => postgresql.crash(),
      end: () => postgresql.start(),
    },
    {
      name: 'PostgreSQL is stopped for a while',
      lasts: long,
      begin: () => postgresql.stop(),
      end: () => postgresql.start(),
      away: 'postgresql',
    },
    {
      name: 'PostgreSQL falls silent for a while',
      lasts: long,
      begin: () => postgresql.pause(),
      end: () => postgresql.resume(),
      away: 'postgresql',
    },
    {
      name: 'Redis restarts, and has forgotten everything',
      lasts: 0,
      begin: () => redis.kill(),
      end: () => redis.start(),
    },
    {
      name: 'Redis is stopped for a while',
      lasts: short,
      begin: () => redis.kill(),
      end: () => redis.start(),
      away: 'redis',
    },
    {
      name: 'Redis falls silent for a while',
      lasts: short,
      begin: () => redis.freeze(),
      end: () => redis.thaw(),
      away: 'redis',
    },
    {
      name: 'both fall silent for a while',
      lasts: short,
      begin: () => {
        redis.freeze();
        postgresql.pause();
      },
      end: () => {
        postgresql.resume();
        redis.thaw();
      },
    },
  ];

  test.each(faults)(
    '$name: nothing wrong, nothing lost, nobody waits, and it goes on',
    async (fault) => {
      const load = await Load.start(stage);
      const { ledger } = load;
      await sleep(1_000);
      await fault.begin();
      await sleep(Math.min(fault.lasts, 2_500));
      const before = new Map(ledger.counts);
      await sleep(Math.max(0, fault.lasts - 2_500));
      const since = (what: string) => ledger.counted(what) - (before.get(what) ?? 0);
      if (fault.away === 'postgresql') {
        // A customer with a valid license is not locked out; what needs a write is refused.
        expect(since('validate by bound one: OK')).toBeGreaterThan(0);
        expect(since('validate by bound one: unavailable')).toBe(0);
        expect(since('mint: unavailable')).toBeGreaterThan(0);
        expect(since('mint: done')).toBe(0);
      }
      await fault.end();
      const end = performance.now();
      while (!(await load.isServed())) {
        expect(performance.now() - end, 'served again').toBeLessThan(20_000);
        await sleep(20);
      }
      const recovery = Math.round(performance.now() - end);
      await sleep(500);
      await load.stop();
      await load.expectNothingLost();
      recoveries.push(`${fault.name}: ${recovery} ms (${Math.round(ledger.longest.milliseconds)} ms)`);
      // What a failure inside was, is in the service's log alone.
      const inside = server.logLines.filter(
        (line) => line.includes('"level":50') && line.includes('requestId'),
      );
      if (ledger.violations.length > 0) ledger.violations.push(...inside.slice(-3));
      ledger.expectKept();
      for (const what of [
        'validate by first use: OK',
        'validate by banned: BANNED',
        'mint: done',
        'ban: done',
      ])
        expect(ledger.counted(what), what).toBeGreaterThan(0);
    },
    60_000,
  );
});
