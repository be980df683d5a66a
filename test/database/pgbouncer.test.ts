import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { noLimits } from '../api/support.ts';
import { freshDirectory, succeed } from '../cli/places.ts';
import { runCommand } from '../cli/run-command.ts';
import { createServerDatabase, serverUrl } from '../setup/database.ts';
import { OwnPgbouncer } from '../setup/own-pgbouncer.ts';
import { hasPgbouncer } from '../setup/pgbouncer-program.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

// A connection pooler in transaction mode gives each transaction another session of the database. State of a session,
// such as a lock or a setting, is lost, and affects another client.

const long = 240_000;
const applicationAnswer = z.object({ application: z.object({ createdAt: z.string() }) });

if (process.env.CI !== undefined && !hasPgbouncer) throw new Error('PgBouncer has to be installed in CI');

describe.skipIf(serverUrl === null || !hasPgbouncer)('behind PgBouncer in transaction mode', () => {
  let pgbouncer: OwnPgbouncer;
  beforeAll(async () => {
    pgbouncer = await OwnPgbouncer.start(serverUrl ?? '');
  });
  afterAll(() => pgbouncer.remove());

  /** An empty database whose sessions are not in UTC, with a direct connection that bypasses PgBouncer. */
  async function freshDatabase() {
    const { url, drop } = await createServerDatabase();
    onTestFinished(drop);
    const direct = new pg.Client({ connectionString: url });
    await direct.connect();
    onTestFinished(() => direct.end());
    await direct.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET timezone TO 'Asia/Kolkata'`);
    const pooled = pgbouncer.urlOf(url);
    const env = { DATABASE_URL: pooled, SERVICE_SECRET: randomBytes(32).toString('base64') };
    const start = (): Promise<TestServer> =>
      startTestServer({ database: 'server', env: { ...noLimits, ...env } });
    return { direct, env, url: pooled, start };
  }

  const isReady = async ({ baseUrl }: TestServer) => (await fetch(`${baseUrl}/health/ready`)).status;

  test('a dozen starts, four at a time, on an empty and on a used database, all succeed and serve requests', {
    tags: 'slow',
    timeout: long,
  }, async () => {
    const { direct, start } = await freshDatabase();
    for (let round = 0; round < 3; round += 1) {
      const servers = await Promise.all([start(), start(), start(), start()]);
      try {
        expect(await Promise.all(servers.map(isReady))).toEqual([200, 200, 200, 200]);
        const [one, two] = servers;
        const { client, createApplication } = await createWorld(one);
        const application = await createApplication();
        const license = await application.mintOne();
        const session = await openSession(two, application);
        expect(await session.ask(validatePath, license)).toMatchObject({ code: 'OK' });
        const { body } = await client.get(`/api/v1/apps/${application.id}`);
        const { createdAt } = applicationAnswer.parse(body).application;
        expect(Math.abs(Date.parse(createdAt) - one.clock.now())).toBeLessThan(60_000);
      } finally {
        for (const server of servers) await server.close();
      }
    }
    const { rows } = await direct.query(
      `SELECT objid FROM pg_locks JOIN pg_database ON pg_database.oid = database
         WHERE datname = current_database() AND locktype = 'advisory'`,
    );
    expect(rows).toEqual([]);
  });

  test(
    'the start logs it, doctor lists the timeouts that the role lacks, and backup and restore work',
    async () => {
      const { direct, env, start } = await freshDatabase();
      const server = await start();
      await (await createWorld(server)).createApplication();
      await server.close();
      expect(server.logLines.join('')).toContain('The connection to PostgreSQL goes through a pooler');
      const { stdout } = await runCommand(['doctor'], env);
      expect(stdout).toMatch(/WARN.*goes through a pooler.*ALTER ROLE CURRENT_USER SET lock_timeout = '2s'/);
      expect(stdout).toMatch(/No advisory lock of the service is stuck/);

      const file = join(await freshDirectory(), 'a.backup');
      await succeed(['backup', file], env);
      const target = await freshDatabase();
      // A restore is refused while other clients are connected.
      await target.direct.end();
      await succeed(['restore', file], { ...env, DATABASE_URL: target.url });
      const count = 'SELECT count(*) FROM applications';
      const restored = new pg.Client({ connectionString: target.url });
      await restored.connect();
      onTestFinished(() => restored.end());
      expect((await restored.query(count)).rows).toEqual((await direct.query(count)).rows);
    },
    long,
  );

  test(
    'the service leaves no setting behind in a session that other clients get',
    async () => {
      const { direct, url, start } = await freshDatabase();
      const server = await start();
      try {
        await expect.poll(() => indexesBuilt(direct), { timeout: 60_000 }).toBe(true);
        const other = new pg.Pool({
          connectionString: url,
          max: 20,
        });
        onTestFinished(() => other.end());
        const settings = await Promise.all(
          Array.from({ length: 20 }, async () => {
            const { rows } = await other.query(
              `SELECT name, setting FROM pg_settings, pg_sleep(0.1)
               WHERE name ~ '_timeout$' AND source = 'session' ORDER BY 1`,
            );
            return rows;
          }),
        );
        expect(settings.flat()).toEqual([]);
      } finally {
        await server.close();
      }
    },
    long,
  );
});

async function indexesBuilt(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM pg_index WHERE indisvalid AND indexrelid = to_regclass('licenses_application_id_expires_at_idx')`,
  );
  return rows.length === 1;
}
