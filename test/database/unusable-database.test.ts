import { Writable } from 'node:stream';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { partitionOf } from '../../src/db/log-partition.ts';
import { readMigrations } from '../../src/db/migrations.ts';
import { strayInstallations } from '../../src/db/stray-installations.ts';
import { createLogger } from '../../src/lib/log.ts';
import { describeStartFailure } from '../../src/supervisor/start-failure.ts';
import { freshDirectory, succeed } from '../cli/places.ts';
import { runCommand } from '../cli/run-command.ts';
import { serverUrl, silent } from '../setup/database.ts';
import { createOddDatabase, type OddDatabase, type OddDatabaseOptions } from '../setup/odd-database.ts';

if (process.env.CI !== undefined && serverUrl === null)
  throw new Error('TEST_DATABASE_URL has to be set in CI');

const long = 240_000;

/** The message of a failed start to the operator; null for other errors. */
async function failureOf({ url }: OddDatabase): Promise<string | null> {
  try {
    await (await openDatabase({ kind: 'server', url }, { log: silent })).close();
    return null;
  } catch (error) {
    return describeStartFailure(error);
  }
}

const migrated = async (options?: OddDatabaseOptions): Promise<OddDatabase> => {
  const database = await createOddDatabase(options);
  await succeed(['migrate'], database.env);
  return database;
};

const aStack = /\n\s+at /;

describe.skipIf(serverUrl === null)('a start and doctor fail with a message that says what to do,', () => {
  const thisWeek = partitionOf(Date.now());

  test.each<[string, OddDatabaseOptions, RegExp]>([
    [
      'if the user may not create tables in the schema',
      { creation: '' },
      /GRANT USAGE, CREATE ON SCHEMA public TO /,
    ],
    [
      'if the user may not use the schema',
      { creation: '', prepare: 'REVOKE ALL ON SCHEMA public FROM PUBLIC' },
      /may not use the schema public.*GRANT USAGE, CREATE ON SCHEMA public TO latchkey_odd_/,
    ],
    [
      'if there is no schema',
      { prepare: 'DROP SCHEMA public' },
      /There is no schema public.*CREATE SCHEMA public AUTHORIZATION latchkey_odd_/,
    ],
    [
      'if the encoding is not UTF-8',
      { creation: `ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0` },
      /encoding.* LATIN1.*ENCODING 'UTF8'/,
    ],
  ])(
    '%s',
    async (_, options, message) => {
      const database = await createOddDatabase(options);
      const failure = await failureOf(database);
      expect(failure).toMatch(message);
      expect(failure).not.toMatch(aStack);
      const migrate = await runCommand(['migrate'], database.env);
      expect(migrate).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
      const doctor = await runCommand(['doctor'], database.env);
      expect(doctor.code).toBe(1);
      expect(doctor.stdout).toMatch(new RegExp(`FAIL {2}database: .*${message.source}`));
    },
    long,
  );

  test(
    'if triggers and foreign keys are disabled, as for a replica',
    async () => {
      const database = await createOddDatabase({ ofRole: { session_replication_role: 'replica' } });
      const wanted = `ALTER ROLE ${database.role} IN DATABASE ${database.name} SET session_replication_role TO 'origin'`;
      expect(await failureOf(database)).toContain(wanted);
      const { code, stdout } = await runCommand(['doctor'], database.env);
      expect(code).toBe(1);
      expect(stdout).toContain(wanted);
      await database.run(wanted);
      expect(await failureOf(database)).toBeNull();
    },
    long,
  );

  test(
    "if this week's partition has been detached from the log",
    async () => {
      const database = await migrated();
      await database.run(`ALTER TABLE security_log DETACH PARTITION ${thisWeek.name}`);
      const failure = await failureOf(database);
      expect(failure).not.toMatch(aStack);
      const [attach = 'none'] =
        /ALTER TABLE security_log ATTACH PARTITION \w+ FOR VALUES FROM \S+ TO \('[^']+'\)/.exec(
          failure ?? '',
        ) ?? [];
      const { code, stdout } = await runCommand(['doctor'], database.env);
      expect(code).toBe(1);
      expect(stdout).toContain(attach);
      await database.run(attach);
      expect(await failureOf(database)).toBeNull();
      expect((await runCommand(['doctor'], database.env)).code).toBe(0);
    },
    long,
  );

  test(
    'if it is read-only and has pending migrations, but not without pending ones',
    async () => {
      const readOnly = { default_transaction_read_only: 'on' };
      const empty = await createOddDatabase({ ofDatabase: readOnly });
      const failure = await failureOf(empty);
      expect(failure).toMatch(/is read-only/);
      expect(failure).not.toMatch(aStack);
      const database = await migrated();
      await database.run(`ALTER DATABASE ${database.name} SET default_transaction_read_only = on`);
      expect(await failureOf(database)).toBeNull();
      const { code, stdout } = await runCommand(['doctor'], database.env);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(/WARN.*The database is read-only/),
      });
    },
    long,
  );
});

describe.skipIf(serverUrl === null)('a start succeeds', () => {
  test(
    "if a past week's partition has been detached, and creates those of the coming weeks",
    async () => {
      const database = await migrated();
      const [past, next] = [partitionOf(Date.now(), -1), partitionOf(Date.now(), 1)];
      await database.run(`ALTER TABLE security_log DETACH PARTITION ${past.name}; DROP TABLE ${next.name}`);
      expect(await failureOf(database)).toBeNull();
      const attached = await database.run(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'security_log'::regclass`,
      );
      expect(attached).toContainEqual({ name: next.name });
      expect(attached).not.toContainEqual({ name: past.name });
    },
    long,
  );

  test(
    'if an earlier version has left tables in another schema, and the log and doctor name that schema',
    async () => {
      const database = await migrated({ prepare: 'CREATE SCHEMA AUTHORIZATION $role' });
      await database.run(
        ['_prisma_migrations', 'licenses', 'security_log']
          .map((table) => `CREATE TABLE ${database.role}.${table} (id INT)`)
          .join('; '),
      );
      const lines: string[] = [];
      const said = new Writable({
        write: (line, _encoding, done) => {
          lines.push(String(line));
          done();
        },
      });
      const log = createLogger('warn', said);
      const opened = await openDatabase({ kind: 'server', url: database.url }, { log });
      onTestFinished(() => opened.close());
      expect(lines.join('')).toContain(database.role);
      const named = { ...database.env, DATABASE_URL: `${database.url}?schema=elsewhere` };
      const { code, stdout } = await runCommand(['doctor'], named);
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`WARN.*${database.role} are not used`));
      expect(stdout).toMatch(/WARN.*the schema "elsewhere", which is ignored/);
    },
    long,
  );
});

test.skipIf(serverUrl === null)(
  'a start does not read more of the catalog if there are many schemas',
  async () => {
    const amount = 300;
    const database = await createOddDatabase({
      prepare: Array.from({ length: amount }, (_, index) => `CREATE SCHEMA tenant_${index}`).join('; '),
    });
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('BEGIN');
    expect(await strayInstallations(client)).toEqual([]);
    const { rows } = await client.query<{ scans: number }>(
      `SELECT (seq_scan + idx_scan)::int AS scans FROM pg_stat_xact_sys_tables WHERE relname = 'pg_class'`,
    );
    // Some of them belong to PostgreSQL.
    expect(rows[0]?.scans).toBeLessThan(amount);
  },
  long,
);

test.skipIf(serverUrl === null)(
  'data in a database of another encoding can be moved with backup and restore',
  async () => {
    const creation = `ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`;
    const old = await createOddDatabase({ creation, prepare: 'GRANT ALL ON SCHEMA public TO $role' });
    // Created by an earlier version, which did not check the encoding.
    for (const { name, sql, checksum } of await readMigrations()) {
      await old.run(`SET ROLE ${old.role}; ${history}; ${sql};
        INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at)
        VALUES (gen_random_uuid(), '${checksum}', '${name}', now())`);
    }
    await old.run(`INSERT INTO developers (id, email, email_normalized, name, password_hash)
      VALUES (gen_random_uuid(), 'a@b.c', 'a@b.c', 'Größe', '$argon2id$x')`);
    const file = `${await freshDirectory()}/a.backup`;
    await succeed(['backup', file], old.env);
    const target = await createOddDatabase();
    await succeed(['restore', file], target.env);
    expect(await target.run('SELECT email, name FROM developers')).toEqual([
      { email: 'a@b.c', name: 'Größe' },
    ]);
  },
  long,
);

/** As `prisma migrate` creates it. */
const history = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
    migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0)`;
