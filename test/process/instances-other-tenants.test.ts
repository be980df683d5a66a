import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { noLimits } from '../api/support.ts';
import { hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { createWorld, type SeededApplication, type World } from '../setup/world.ts';

const patient = { timeout: 20_000, interval: 20 };
const possible = process.env.TEST_DATABASE_URL !== undefined && hasRedisServer;

// Changes of one developer do not invalidate cached licenses of another developer.
describe.skipIf(!possible).each(['with Redis', 'without Redis'])('of two instances %s', (kind) => {
  let here: TestServer;
  let there: TestServer;
  let neighbor: SeededApplication;
  let world: World;
  let application: SeededApplication;
  let sessions: SealedSession[];
  let licenseKey: string;
  beforeEach(async () => {
    const redis: Record<string, string> =
      kind === 'with Redis' ? { REDIS_URL: (await OwnRedis.start()).url } : {};
    const env = { ...noLimits, ...redis };
    here = await startTestServer({ database: 'server', env });
    there = await startTestServer({ beside: here, env });
    neighbor = await (await createWorld(here)).createApplication();
    ({ licenseKey } = await neighbor.mintOne());
    world = await createWorld(here);
    application = await world.createApplication();
    sessions = await Promise.all([here, there].map((server) => openSession(server, neighbor)));
  });
  afterEach(async () => {
    await there.close();
    await here.close();
  });

  const missesOf = ({ deps }: TestServer, cache: string): number =>
    deps.services.caches.usage.find(({ name }) => name === cache)?.misses ?? 0;
  const misses = () => [here, there].map((server) => missesOf(server, 'license'));
  const askNeighbors = async () => {
    for (const session of sessions)
      expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });
  };
  /** Waits until both instances have read all changes so far from the database; the last one is of this application. */
  async function untilHeard(): Promise<void> {
    for (const server of [here, there]) await openSession(server, application);
    await sql(
      here,
      `INSERT INTO cache_changes (cache, keys) VALUES ('application', '["${application.id}"]')`,
    );
    for (const server of [here, there]) {
      await vi.waitFor(async () => {
        const before = missesOf(server, 'application');
        await openSession(server, application);
        expect(missesOf(server, 'application')).toBeGreaterThan(before);
      }, patient);
    }
  }
  /** How often the neighbor's license is reloaded after `act` is done and all instances know of it. */
  async function loadsAfter(act: () => Promise<unknown>): Promise<number[]> {
    await untilHeard();
    // The first use writes to the license. What is loaded after it stays cached.
    await vi.waitFor(async () => {
      const before = misses();
      await askNeighbors();
      expect(misses()).toEqual(before);
    }, patient);
    await act();
    await untilHeard();
    const before = misses();
    await askNeighbors();
    return misses().map((count, index) => count - (before[index] ?? 0));
  }
  const post = async (path: string, body: unknown) => {
    const answer = await world.client.post(`/api/v1${path}`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  };

  test('an extension of an application without licenses notifies no instance', async () => {
    const count = async () =>
      sql(here, `SELECT count(*)::int AS rows FROM cache_changes WHERE cache LIKE 'license%'`);
    const before = await count();
    expect(await loadsAfter(() => post(`/apps/${application.id}/licenses/extend`, { seconds: 60 }))).toEqual([
      0, 0,
    ]);
    expect(await count()).toEqual(before);
  });

  test("an extension does not invalidate another developer's licenses", async () => {
    const own = await application.mintOne({ durationSeconds: 3_600 });
    await (await openSession(here, application)).ask(validatePath, { licenseKey: own.licenseKey });
    expect(await loadsAfter(() => post(`/apps/${application.id}/licenses/extend`, { seconds: 60 }))).toEqual([
      0, 0,
    ]);
  });

  test("a large mint does not invalidate another developer's licenses", async () => {
    const keys = Array.from({ length: 1_001 }, (_, index) => ({
      licenseKeyHash: createHash('sha256').update(`${application.id} ${index}`).digest('hex'),
      licenseKeyPrefix: 'KEY',
      durationSeconds: 0,
    }));
    expect(
      await loadsAfter(() => post('/licenses/create-blind', { applicationId: application.id, keys })),
    ).toEqual([0, 0]);
  });

  test("many changes between two polls do not invalidate another developer's licenses", async () => {
    const changes = `INSERT INTO cache_changes (cache, keys) SELECT 'license', '["x"]' FROM generate_series(1, 2000)`;
    expect(await loadsAfter(() => sql(here, changes))).toEqual([0, 0]);
  });
});
