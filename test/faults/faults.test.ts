/** @module-tag slow */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { noLimits } from '../api/support.ts';
import { freePort, OwnRedis } from '../ephemeral/support.ts';
import { findPostgresql, OwnPostgresql } from '../setup/own-postgresql.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { tally } from '../setup/tally.ts';
import { createWorld } from '../setup/world.ts';
import type { Ledger } from './ledger.ts';
import { Load, type Stage } from './load.ts';

const programs = findPostgresql();
const canRun = programs !== null && spawnSync('redis-server', ['--version']).status === 0;
if (!canRun) {
  const missing = 'PostgreSQL and redis-server have to be installed to start and break them';
  if (process.env.CI !== undefined) throw new Error(missing);
  process.stderr.write(`Skipped: the faults of PostgreSQL and Redis (${missing}).\n`);
}

const shownApiKey = z.object({ key: z.object({ apiKey: z.string() }) });

/**
 * The minimum duration of an outage in milliseconds: longer than every timeout. A request to the
 * database ends after three seconds; silence counts as an outage after one and a half, and of Redis after one.
 */
const ofDatabase = 4_500;
const ofBoth = 2_000;
const ofRedis = 1_500;

/** The repeated requests of the load, by their names in the ledger. */
interface Request {
  readonly what: string;
  readonly served: 'done' | 'OK';
}
const successes = ({ what, served }: Request) => `${what}: ${served}`;
const refusals = ({ what }: Request) => `${what}: unavailable`;

type Since = ReturnType<Ledger['since']>;

/** Waits until each of these has been counted this many times. */
const until = (since: Since, counted: readonly string[], times: number) =>
  vi.waitFor(
    () => {
      for (const what of counted) expect(since(what), what).toBeGreaterThanOrEqual(times);
    },
    { timeout: 40_000, interval: 20 },
  );

interface Outage {
  readonly lasts: number;
  /** The kinds of requests that are refused during the outage. */
  readonly refused?: Request;
  /** The kinds of requests that are still served. */
  readonly served?: Request;
}

/** Waits during an outage and checks which requests are refused and which are served. */
async function expectMeanwhile(ledger: Ledger, { lasts, refused, served }: Outage): Promise<void> {
  const outage = sleep(lasts);
  if (refused !== undefined) {
    const meanwhile = (since: Since, times: number) =>
      until(since, [refusals(refused), ...(served === undefined ? [] : [successes(served)])], times);
    // After the outage is detected, and requests that were running then have been answered.
    await until(ledger.since(), [refusals(refused)], 3);
    await meanwhile(ledger.since(), 1);
    const since = ledger.since();
    await meanwhile(since, 5);
    await outage;
    expect(since(successes(refused)), successes(refused)).toBe(0);
    if (served !== undefined) expect(since(refusals(served)), refusals(served)).toBe(0);
  }
  await outage;
}

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

  const minting: Request = { what: 'mint', served: 'done' };
  const validating: Request = { what: 'validate by bound one', served: 'OK' };
  // Customers with a valid license are served; requests that need a write are refused.
  const withoutDatabase = { refused: minting, served: validating };
  // Without Redis, a new envelope cannot be told from a replayed one.
  const withoutRedis = { refused: validating };

  const faults: readonly (Outage & {
    readonly name: string;
    readonly begin: () => Promise<void> | void;
    readonly end: () => Promise<void> | void;
  })[] = [
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
      lasts: ofDatabase,
      begin: () => postgresql.stop(),
      end: () => postgresql.start(),
      ...withoutDatabase,
    },
    {
      name: 'PostgreSQL hangs for a while',
      lasts: ofDatabase,
      begin: () => postgresql.pause(),
      end: () => postgresql.resume(),
      ...withoutDatabase,
    },
    {
      name: 'Redis restarts without its data',
      lasts: 0,
      begin: () => redis.kill(),
      end: () => redis.start(),
    },
    {
      name: 'Redis is stopped for a while',
      lasts: ofRedis,
      begin: () => redis.kill(),
      end: () => redis.start(),
      ...withoutRedis,
    },
    {
      name: 'Redis hangs for a while',
      lasts: ofRedis,
      begin: () => redis.freeze(),
      end: () => redis.thaw(),
      ...withoutRedis,
    },
    {
      name: 'both hang for a while',
      lasts: ofBoth,
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
    '$name: no wrong result, no lost write, no long wait, and full recovery',
    async (fault) => {
      const load = await Load.start(stage);
      const { ledger } = load;
      await load.untilAllAreServed();
      await fault.begin();
      try {
        await expectMeanwhile(ledger, fault);
      } finally {
        await fault.end();
      }
      const end = performance.now();
      await load.untilAllAreServed();
      const recovery = Math.round(performance.now() - end);
      await load.stop();
      await load.expectNothingLost();
      recoveries.push(`${fault.name}: ${recovery} ms (${Math.round(ledger.longest.milliseconds)} ms)`);
      // The cause of an internal error is only in the service's log.
      const inside = server.logLines.filter(
        (line) => line.includes('"level":50') && line.includes('requestId'),
      );
      if (ledger.violations.length > 0) ledger.violations.push(...inside.slice(-3));
      ledger.expectKept();
      tally({ faults: 1, acknowledged: ledger.acknowledged });
    },
    150_000,
  );
});
