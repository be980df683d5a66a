import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { sweepDeletedOwners } from '../../src/db/deleted-owners.ts';
import { partitionOf } from '../../src/db/log-partition.ts';
import { indexAll } from '../../src/db/log-search/index-all.ts';
import { mergeLicenseCountDeltas } from '../../src/db/merge-count-deltas.ts';
import { tidySearchIndexes } from '../../src/db/search-indexes.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/log.ts';
import { maintain } from '../../src/services/maintenance.ts';
import { runCommand } from '../cli/run-command.ts';
import { createServerDatabase, serverUrl, silent } from '../setup/database.ts';
import { root, type ServiceProcess, startServiceProcess } from '../setup/process.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { createWorld } from '../setup/world.ts';

/** The two roles of docs/postgresql.md: one owns the tables, the service runs with the other and MIGRATE=check. */

const redisUrl = process.env.TEST_REDIS_URL;
const day = 24 * 60 * 60 * 1000;

/** The statements of the documentation, for roles and a database of this test. */
function statements(names: {
  readonly owner: string;
  readonly service: string;
  readonly database: string;
}): string {
  const page = readFileSync(join(root, 'docs/postgresql.md'), 'utf8');
  const [, section = ''] = page.split('### A role without rights on the schema');
  const [, sql = ''] = /```sql\n([\s\S]*?)```/.exec(section) ?? [];
  return sql
    .replaceAll('latchkey_owner', names.owner)
    .replaceAll('DATABASE latchkey ', `DATABASE ${names.database} `)
    .replaceAll(/\blatchkey\b/g, names.service);
}

/** Registers, creates an application, mints, validates, reads and searches lists, and deletes the application. */
async function drive({ url: baseUrl }: ServiceProcess): Promise<void> {
  const { client, createApplication } = await createWorld({ baseUrl });
  const application = await createApplication();
  const { licenseKey } = await application.mintOne({ note: 'for Grace' });
  const session = await openSession({ baseUrl, clock: systemClock }, application);
  expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });
  const reads = ['licenses?q=grace', 'licenses', 'users', 'bans', 'logs'].map(
    (list) => `/api/v1/apps/${application.id}/${list}`,
  );
  for (const path of [...reads, '/api/v1/metrics/overview', '/api/v1/metrics/history?period=day']) {
    const { status, body } = await client.get(path);
    expect(status, `${path}: ${JSON.stringify(body)}`).toBe(200);
  }
  expect((await client.delete(`/api/v1/apps/${application.id}`)).status).toBe(200);
}

/** Lines of errors, and of what PostgreSQL refused. */
const complaints = (output: string) =>
  output.split('\n').filter((line) => /"level":(50|60)|permission denied|must be owner|42501/.test(line));

function heard() {
  const lines: string[] = [];
  const output = new Writable({
    write: (line, _encoding, done) => {
      lines.push(String(line));
      done();
    },
  });
  return { log: createLogger('warn', output), lines };
}

describe.skipIf(serverUrl === null)(
  'with MIGRATE=check and a role that owns nothing,',
  { timeout: 120_000 },
  () => {
    const id = `latchkey_test_${randomBytes(6).toString('hex')}`;
    const names = { owner: `${id}_owner`, service: `${id}_service` };
    let admin: pg.Client;
    let drop: () => Promise<void>;
    let ownerUrl: string;
    let env: { readonly DATABASE_URL: string; readonly SERVICE_SECRET: string; readonly MIGRATE: string };

    const migrate = async (more: Readonly<Record<string, string>> = {}) => {
      const run = await runCommand(['migrate'], { DATABASE_URL: ownerUrl, ...more });
      expect(run.code, run.stderr).toBe(0);
      return run.stdout;
    };
    const open = (log = silent): Promise<Database> =>
      openDatabase({ kind: 'server', url: env.DATABASE_URL }, { log, migrate: 'check' });
    const opened = async (): Promise<Database> => {
      const database = await open();
      onTestFinished(() => database.close());
      return database;
    };
    const relations = async (): Promise<string[]> => {
      const { rows } = await admin.query<{ name: string }>(
        `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1`,
      );
      return rows.map(({ name }) => name);
    };

    beforeAll(async () => {
      const database = await createServerDatabase();
      drop = database.drop;
      const urlOf = (user: string, password: string): string => {
        const url = new URL(database.url);
        [url.username, url.password] = [user, password];
        return url.href;
      };
      admin = new pg.Client({ connectionString: database.url });
      await admin.connect();
      await admin.query(statements({ ...names, database: new URL(database.url).pathname.slice(1) }));
      ownerUrl = urlOf(names.owner, 'first password');
      env = {
        DATABASE_URL: urlOf(names.service, 'second password'),
        SERVICE_SECRET: randomBytes(32).toString('base64'),
        MIGRATE: 'check',
      };
      await expect(open()).rejects.toMatchObject({
        problem: 'pending-migrations',
        message: expect.stringContaining('run "latchkey migrate"'),
      });
      expect(await relations()).toEqual([]);
      await migrate();
    }, 120_000);
    afterAll(async () => {
      await admin.end();
      await drop();
      const rest = new pg.Client({ connectionString: serverUrl ?? '' });
      await rest.connect();
      for (const name of [names.owner, names.service]) await rest.query(`DROP ROLE ${name}`);
      await rest.end();
    });

    test('"latchkey migrate" has built the indexes and partitions, and finds nothing more to do', async () => {
      expect(await relations()).toEqual(
        expect.arrayContaining([
          partitionOf(Date.now(), 4).name,
          'licenses_search_idx',
          'licenses_expires_at_id_idx',
        ]),
      );
      const before = await relations();
      expect(await migrate()).toMatch(/^Nothing to do: .*\n$/);
      expect(await relations()).toEqual(before);
    });

    test('the role can neither create nor change nor drop a table', async () => {
      const { pool } = await opened();
      for (const sql of ['CREATE TABLE x (id INT)', 'DROP TABLE bans', 'ALTER TABLE bans ADD COLUMN x INT'])
        await expect(pool.query(sql)).rejects.toMatchObject({ code: '42501' });
    });

    test.skipIf(redisUrl === undefined)('three instances start and serve everything', async () => {
      const before = await relations();
      const services = await Promise.all([1, 2, 3].map(() => start()));
      for (const service of services) await drive(service);
      for (const service of services) expect(await service.stop()).toBe(0);
      for (const service of services) expect(complaints(service.output())).toEqual([]);
      expect(await relations()).toEqual(before);
    });

    test.skipIf(redisUrl === undefined)(
      'an instance maintains itself for two minutes without a complaint',
      {
        tags: 'slow',
        timeout: 300_000,
      },
      async () => {
        const service = await start();
        onTestFinished(async () => void (await service.stop()));
        await drive(service);
        // Everything but the six-hourly maintenance, which the next test runs, runs within a minute.
        await new Promise((resolve) => setTimeout(resolve, 120_000));
        expect(complaints(service.output())).toEqual([]);
      },
    );

    test('maintenance changes no schema and fails in nothing', async () => {
      const database = await opened();
      const before = await relations();
      const { log, lines } = heard();
      const notes = [2 * day, day / 2].map((age) => new Date(Date.now() - age));
      await database.pool.query('INSERT INTO clock_notes (at) SELECT unnest($1::timestamptz[])', [notes]);
      await maintain({ database, clock: systemClock, log, retentionDays: 1, migrate: 'check' });
      expect(lines).toEqual([]);
      await mergeLicenseCountDeltas(database.pool);
      await tidySearchIndexes(database.pool);
      await indexAll(database, new AbortController().signal);
      await sweepDeletedOwners(database.pool, new AbortController().signal);
      expect(await relations()).toEqual(before);
    });

    test('missing partitions are warned of a week before, and entries without one are kept and moved', async () => {
      const database = await opened();
      const { log, lines } = heard();
      const clock = { now: () => Date.now() + 30 * day };
      await maintain({ database, clock, log, retentionDays: 90, migrate: 'check' });
      const warnings = () => lines.filter((line) => line.includes('has no partitions after this time'));
      expect(warnings()).toHaveLength(1);
      const { name, from } = partitionOf(Date.now(), 1);
      await admin.query(`DROP TABLE ${name}`);
      expect(await run('doctor')).toMatch(new RegExp(`WARN .* no partition ${name}: run "latchkey migrate"`));
      const developerId = (
        await database.pool.query(
          `INSERT INTO developers (id, email, email_normalized, name, password_hash)
         VALUES (gen_random_uuid(), 'x', 'x', '', '$argon2id$') RETURNING id`,
        )
      ).rows[0].id;
      await database.pool.query(
        `INSERT INTO security_log (id, developer_id, event) VALUES ($1, $2, 'test')`,
        [from, developerId],
      );
      await migrate();
      expect((await admin.query(`SELECT id FROM ${name}`)).rows).toEqual([{ id: from }]);
      expect(await run('doctor')).not.toMatch(/WARN .*partition/);
    });

    test('expired partitions are dropped by "latchkey migrate", but only with LOG_RETENTION_DAYS', async () => {
      const { name, from, to } = partitionOf(Date.now(), -20);
      await admin.query(
        `CREATE TABLE ${name} PARTITION OF security_log FOR VALUES FROM ('${from}') TO ('${to}')`,
      );
      await admin.query(`ALTER TABLE ${name} OWNER TO ${names.owner}`);
      await admin.query('INSERT INTO clock_notes (at) VALUES ($1) ON CONFLICT DO NOTHING', [
        new Date(Date.now() - 2 * day),
      ]);
      await migrate();
      expect(await relations()).toContain(name);
      await migrate({ LOG_RETENTION_DAYS: '365' });
      expect(await relations()).toContain(name);
      expect(await migrate({ LOG_RETENTION_DAYS: '90' })).toContain(`past their retention: ${name}`);
      expect(await relations()).not.toContain(name);
    });

    test('tables without rights are named with the statement that grants them', async () => {
      await admin.query(`REVOKE DELETE ON licenses FROM ${names.service}`);
      const grant = `may not read and write licenses: as their owner, run GRANT SELECT, INSERT, UPDATE, DELETE`;
      const { log, lines } = heard();
      await (await open(log)).close();
      expect(lines).toEqual([expect.stringContaining(grant)]);
      expect(await run('doctor')).toMatch(new RegExp(`FAIL .*${grant}`));
      const [, statement = ''] = /as their owner, run (.*?)\. docs\//.exec(lines.join()) ?? [];
      await admin.query(statement);
      await (await open(log)).close();
      expect(lines).toHaveLength(1);
    });

    test('pending migrations are refused, and the doctor says so', async () => {
      const remove = await admin.query(
        `DELETE FROM _prisma_migrations WHERE migration_name = (SELECT max(migration_name) FROM _prisma_migrations) RETURNING *`,
      );
      const [row] = remove.rows;
      try {
        await expect(open()).rejects.toMatchObject({
          problem: 'pending-migrations',
          message: expect.stringContaining(
            `lacks 1 migrations, the first of which is "${row.migration_name}"`,
          ),
        });
        expect(await run('doctor')).toMatch(/FAIL .*1 migrations are pending.*run "latchkey migrate"/);
      } finally {
        await admin.query(
          `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ($1, $2, $3, now())`,
          [row.id, row.checksum, row.migration_name],
        );
      }
    });

    /** The output of a command with the environment of the service. */
    const run = async (command: string): Promise<string> => (await runCommand([command], env)).stdout;

    const start = async (): Promise<ServiceProcess> => {
      const service = await startServiceProcess({ ...env, REDIS_URL: redisUrl ?? '', TRUST_PROXY: '1' });
      await vi.waitFor(() => expect(service.output()).toContain('Listening on'), { timeout: 60_000 });
      return service;
    };
  },
);
