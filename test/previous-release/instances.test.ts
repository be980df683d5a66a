/** @module-tag slow */
import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type Migration, readMigrations } from '../../src/db/migrations.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createServerDatabase, silent } from '../setup/database.ts';
import { laterMigrations } from '../setup/later-migrations.ts';
import { logLinesOf } from '../setup/log-lines.ts';
import { type ServiceProcess, startServiceProcess } from '../setup/process.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { createWorld } from '../setup/world.ts';

/**
 * The previous release, as processes on a database that this version has migrated. `.ci/test-previous-release` builds it
 * and runs this.
 */

const installation = process.env.PREVIOUS_RELEASE;
const patient = { timeout: 60_000, interval: 50 };

const logLine = z.object({ msg: z.string(), worker: z.number().optional(), pid: z.number().optional() });

const linesOf = (service: ServiceProcess, msg: string) => logLinesOf(service, logLine, msg);

const readyPids = (service: ServiceProcess) => linesOf(service, 'A worker is ready').map(({ pid }) => pid);

/** Registers, creates an application, mints, and validates. */
async function drive({ url: baseUrl }: ServiceProcess): Promise<void> {
  const world = await createWorld({ baseUrl });
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  const session = await openSession({ baseUrl, clock: systemClock }, application);
  expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });
}

describe.skipIf(installation === undefined)('the previous release', { timeout: 180_000 }, () => {
  let pool: pg.Pool;
  let drop: () => Promise<void>;
  let service: ServiceProcess;
  let env: Readonly<Record<string, string>>;
  let known: readonly Migration[];
  const start = () => startServiceProcess(env, { installation: installation ?? '' });

  beforeAll(async () => {
    const database = await createServerDatabase();
    drop = database.drop;
    pool = new pg.Pool({ connectionString: database.url, max: 2 });
    await (
      await openDatabase({ kind: 'server', url: database.url }, { log: silent, logPartitions: 'day' })
    ).close();
    await migrate(pool, { log: silent, migrations: await laterMigrations() });
    known = await readMigrations(`${installation}/prisma/migrations`);
    env = {
      WORKERS: '2',
      TRUST_PROXY: '1',
      DATABASE_URL: database.url,
      REDIS_URL: process.env.TEST_REDIS_URL ?? '',
      SERVICE_SECRET: randomBytes(32).toString('base64'),
    };
    service = await start();
    await vi.waitFor(() => expect(linesOf(service, 'Listening on')).toHaveLength(1), patient);
  }, 180_000);
  afterAll(async () => {
    await service?.stop();
    await pool?.end();
    await drop?.();
  }, 60_000);

  test('starts on the later schema, logs what it does not know, and serves', async () => {
    expect((await laterMigrations()).length).toBeGreaterThan(known.length);
    expect(service.output()).toContain('29990101000000_only_in_tests');
    expect(linesOf(service, 'The database has').length).toBeGreaterThan(0);
    await drive(service);
  });

  test('replaces a worker that was killed', async () => {
    const [killed] = readyPids(service);
    if (killed === undefined) throw new Error('No worker was ever ready');
    process.kill(killed, 'SIGKILL');
    await vi.waitFor(() => expect(readyPids(service)).toHaveLength(3), patient);
    await drive(service);
  });

  test('does not start after a migration that contracts what it needs, and says why', async () => {
    const needed = '29990101000000_only_in_tests';
    const sql = `-- contract: ${needed}\nALTER TABLE "only_in_tests" DROP COLUMN "id";`;
    const name = '29990102000000_contract';
    const checksum = createHash('sha256').update(sql).digest('hex');
    const migrations = [...(await laterMigrations()), { name, sql, checksum }];
    expect(await migrate(pool, { log: silent, migrations })).toHaveLength(1);
    const said = await start().then(String, String);
    expect(said).toContain('ended with 1');
    expect(said).toMatch(new RegExp(`"${name}".*requires a version that knows the migration "${needed}"`));
    expect(said).not.toMatch(/\n\s+at /);
    // Processes that run go on.
    await drive(service);
  });
});
