import { createHash } from 'node:crypto';
import { Writable } from 'node:stream';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { openEmbedded } from '../../src/db/embedded/embedded.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type Migration, readMigrations } from '../../src/db/migrations.ts';
import { createPool } from '../../src/db/pool.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createServerDatabase, databaseKinds, ensureTemplate, serverUrl, silent } from '../setup/database.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** A database without a table. */
async function emptyDatabase(kind: 'memory' | 'server'): Promise<pg.Pool> {
  if (kind === 'server') return (await emptyServerDatabase()).pool;
  await ensureTemplate();
  const migrations = await readMigrations();
  const onFatal = (error: Error) => {
    throw error;
  };
  const embedded = await openEmbedded(null, { log: silent, migrations, onFatal });
  undo.push(embedded.close);
  await embedded.pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  return embedded.pool;
}

async function emptyServerDatabase(): Promise<{ url: string; pool: pg.Pool }> {
  const { url, drop } = await createServerDatabase();
  undo.push(drop);
  const pool = createPool({ connectionString: url }, silent);
  undo.push(() => pool.end());
  return { url, pool };
}

function migration(name: string, sql: string): Migration {
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}

const first = migration('20260101000000_make_a', 'CREATE TABLE a (id INT); CREATE INDEX ON a (id);');
const second = migration('20260102000000_make_b', 'CREATE TABLE b (id INT);');
/** Code must know `second`, which replaced table a. */
const narrowing = migration('20260105000000_drop_a', `-- contract: ${second.name}\nDROP TABLE a;`);
const broken = migration('20260103000000_break', 'CREATE TABLE c (id INT); SELECT 1 / 0;');
const log = silent;

async function tables(pool: pg.Pool): Promise<string[]> {
  const found = await pool.query<{ tablename: string }>(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  );
  return found.rows.map((row) => row.tablename);
}

async function history(pool: pg.Pool) {
  return (await pool.query('SELECT * FROM _prisma_migrations ORDER BY migration_name')).rows;
}

describe.each(databaseKinds)('migrate on %s', (kind) => {
  it('applies every migration to a fresh database, in order', async () => {
    const pool = await emptyDatabase(kind);
    const migrations = await readMigrations();
    await migrate(pool, { log, migrations });
    expect((await history(pool)).map((row) => row.migration_name)).toEqual(
      migrations.map(({ name }) => name),
    );
    expect(await tables(pool)).toEqual(expect.arrayContaining(['developers', 'licenses', 'security_log']));
  });

  it('writes the same history rows as prisma', async () => {
    const pool = await emptyDatabase(kind);
    await migrate(pool, { log, migrations: [first] });
    expect(await history(pool)).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        checksum: first.checksum,
        finished_at: expect.any(Date),
        migration_name: first.name,
        logs: null,
        rolled_back_at: null,
        started_at: expect.any(Date),
        applied_steps_count: 1,
      },
    ]);
  });

  it('does nothing the second time, and applies only a new migration the third time', async () => {
    const pool = await emptyDatabase(kind);
    await migrate(pool, { log, migrations: [first] });
    const before = await history(pool);
    await migrate(pool, { log, migrations: [first] });
    expect(await history(pool)).toEqual(before);
    await migrate(pool, { log, migrations: [first, second] });
    expect(await history(pool)).toEqual([
      ...before,
      expect.objectContaining({ migration_name: second.name }),
    ]);
    expect(await tables(pool)).toEqual(['_prisma_migrations', 'a', 'b']);
  });

  it('can be stopped between two migrations', async () => {
    const pool = await emptyDatabase(kind);
    const ending = new AbortController();
    // The first log line reports the first migration.
    const applied = new Writable({
      write: (_line, _encoding, done) => {
        ending.abort();
        done();
      },
    });
    const options = { log: createLogger('info', applied), signal: ending.signal };
    await expect(migrate(pool, { ...options, migrations: [first, second] })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(await tables(pool)).toEqual(['_prisma_migrations', 'a']);
    await migrate(pool, { log, migrations: [first, second] });
    expect(await tables(pool)).toEqual(['_prisma_migrations', 'a', 'b']);
  });

  it('refuses a database if an applied migration has changed', async () => {
    const pool = await emptyDatabase(kind);
    await migrate(pool, { log, migrations: [first] });
    const changed = migration(first.name, 'CREATE TABLE a (id BIGINT);');
    await expect(migrate(pool, { log, migrations: [changed, second] })).rejects.toMatchObject({
      problem: 'changed-migration',
      message: expect.stringContaining(first.name),
    });
    expect(await tables(pool)).toEqual(['_prisma_migrations', 'a']);
  });

  it('accepts additive migrations of a later version, with one warning that names them', async () => {
    const pool = await emptyDatabase(kind);
    await migrate(pool, { log, migrations: [first, second, narrowing] });
    const { lines, output } = heard();
    const options = { log: createLogger('warn', output), migrations: [first, second] };
    expect(await migrate(pool, options)).toEqual([]);
    expect(lines).toEqual([expect.stringContaining(`"unknown":["${narrowing.name}"]`)]);
    expect(await tables(pool)).toEqual(['_prisma_migrations', 'b']);
  });

  it('refuses code that does not know what a later migration requires, and names that migration', async () => {
    const pool = await emptyDatabase(kind);
    await migrate(pool, { log, migrations: [first, second, narrowing] });
    const before = await history(pool);
    for (const migrations of [
      [first],
      [first, migration('20260104000000_more', 'CREATE TABLE d (id INT);')],
    ]) {
      await expect(migrate(pool, { log, migrations })).rejects.toMatchObject({
        problem: 'newer-database',
        message: expect.stringMatching(
          new RegExp(`"${narrowing.name}".*requires a version that knows the migration "${second.name}"`),
        ),
      });
    }
    expect(await history(pool)).toEqual(before);
  });

  it('ignores the contract of a migration that was rolled back', async () => {
    const pool = await emptyDatabase(kind);
    await migrate(pool, { log, migrations: [first, second, narrowing] });
    await pool.query('UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name = $1', [
      narrowing.name,
    ]);
    expect(await migrate(pool, { log, migrations: [first] })).toEqual([]);
  });

  it('refuses a database with an unfinished migration of a later version', async () => {
    const pool = await emptyDatabase(kind);
    await migrate(pool, { log, migrations: [first, second] });
    await pool.query('UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = $1', [
      second.name,
    ]);
    await expect(migrate(pool, { log, migrations: [first] })).rejects.toMatchObject({
      problem: 'failed-migration',
      message: expect.stringContaining(second.name),
    });
  });

  it('rolls back a migration that fails, and keeps the earlier ones', async () => {
    const pool = await emptyDatabase(kind);
    await expect(migrate(pool, { log, migrations: [first, broken] })).rejects.toMatchObject({
      problem: 'failed-migration',
      message: expect.stringMatching(/20260103000000_break.*division by zero/),
    });
    expect(await tables(pool)).toEqual(['_prisma_migrations', 'a']);
    expect((await history(pool)).map((row) => row.migration_name)).toEqual([first.name]);
    const repaired = migration(broken.name, 'CREATE TABLE c (id INT);');
    await migrate(pool, { log, migrations: [first, repaired] });
    expect(await tables(pool)).toEqual(['_prisma_migrations', 'a', 'c']);
  });

  it('refuses a database with an unfinished migration of another tool until it is marked as rolled back', async () => {
    const pool = await emptyDatabase(kind);
    await migrate(pool, { log, migrations: [first] });
    await pool.query(`INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('x', 'y', $1)`, [
      second.name,
    ]);
    await expect(migrate(pool, { log, migrations: [first, second] })).rejects.toMatchObject({
      problem: 'failed-migration',
      message: expect.stringContaining('never finished'),
    });
    await pool.query(`UPDATE _prisma_migrations SET rolled_back_at = now() WHERE id = 'x'`);
    await migrate(pool, { log, migrations: [first, second] });
    expect(await tables(pool)).toEqual(['_prisma_migrations', 'a', 'b']);
  });
});

describe.skipIf(serverUrl === null)('migrate on a server', () => {
  it('applies each migration once when several instances start at the same time', async () => {
    const { url } = await emptyServerDatabase();
    const pools = Array.from({ length: 4 }, () => createPool({ connectionString: url }, silent));
    for (const pool of pools) undo.push(() => pool.end());
    const migrations = await readMigrations();
    await Promise.all(pools.map((pool) => migrate(pool, { log, migrations })));
    const [pool] = pools;
    expect(pool && (await history(pool)).length).toBe(migrations.length);
  });

  it('waits for the advisory lock of prisma migrate and logs who holds it', async () => {
    const { url, pool } = await emptyServerDatabase();
    const holder = new pg.Client({ connectionString: url, application_name: 'somebody else' });
    await holder.connect();
    undo.push(() => holder.end());
    await holder.query('SELECT pg_advisory_lock(72707369)');
    const pid = (await holder.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
    const { lines, output } = heard();
    const running = migrate(pool, { log: createLogger('warn', output), migrations: [first] });
    await expect
      .poll(() => lines.join(''), { timeout: 20_000 })
      .toMatch(
        new RegExp(
          `Waiting for the migration lock.*72707369.*backend ${pid} of .*somebody else.*idle for \\d+ s`,
        ),
      );
    expect(await tables(pool)).toEqual([]);
    await holder.query('SELECT pg_advisory_unlock(72707369)');
    await running;
    expect(await tables(pool)).toEqual(['_prisma_migrations', 'a']);
    expect(lines).toHaveLength(1);
  });

  it('waits for readers of a table that a migration changes, names them, and does not block other requests', async () => {
    const { url, pool } = await emptyServerDatabase();
    await migrate(pool, { log, migrations: [first] });
    const reader = new pg.Client({ connectionString: url, application_name: 'a backup' });
    await reader.connect();
    undo.push(() => reader.end());
    await reader.query('BEGIN; SELECT * FROM a');
    const { rows } = await reader.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const changing = { ...second, sql: 'ALTER TABLE a ADD COLUMN more INT;' };
    const { lines, output } = heard();
    const running = migrate(pool, { log: createLogger('warn', output), migrations: [first, changing] });
    await expect
      .poll(() => lines.join(''), { timeout: 20_000 })
      .toMatch(new RegExp(`use what the next migration changes: backend ${rows[0]?.pid} of .*a backup`));
    // Without a lock timeout, later requests for the table would wait behind the migration until the reader ends.
    const slowest = await pool.query(`SET statement_timeout = '10s'; SELECT * FROM a`).then(
      () => 'served',
      () => 'held up',
    );
    expect(slowest).toBe('served');
    await reader.query('COMMIT');
    expect(await running).toEqual([changing]);
    expect((await pool.query('SELECT more FROM a')).rows).toEqual([]);
  });

  it('can be stopped while it waits for the lock', async () => {
    const { pool } = await emptyServerDatabase();
    const holder = await pool.connect();
    await holder.query('BEGIN; SELECT pg_advisory_xact_lock(72707369)');
    const ending = new AbortController();
    const running = migrate(pool, { log, migrations: [first], signal: ending.signal });
    ending.abort();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    holder.release(true);
  });
});

/** Captures a log's output. */
function heard(): { readonly lines: string[]; readonly output: Writable } {
  const lines: string[] = [];
  const output = new Writable({
    write: (line, _encoding, done) => {
      lines.push(String(line));
      done();
    },
  });
  return { lines, output };
}
