import { createHash, randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { takeLock } from '../../src/db/embedded/lock.ts';
import { findTemplate, templatesDirectory } from '../../src/db/embedded/template.ts';
import { readMigrations } from '../../src/db/migrations.ts';
import { DatabaseStartError } from '../../src/db/start-error.ts';
import { createLogger } from '../../src/lib/log.ts';
import { prepareEmbedded } from '../../src/tools/prepare-embedded.ts';
import './engine-code.ts';
import { openKeptDatabase } from './kept-databases.ts';
import { applyLaterMigrations, laterMigrations } from './later-migrations.ts';

export type TestDatabaseKind = 'memory' | 'server';

/** The URL of any database on the tests' PostgreSQL server. Its user may create databases. */
export const serverUrl: string | null = process.env.TEST_DATABASE_URL ?? null;

/** The kinds of database that database tests run on: `describe.each(databaseKinds)('… on %s', (kind) => …)`. */
export const databaseKinds: readonly TestDatabaseKind[] =
  serverUrl === null ? ['memory'] : ['memory', 'server'];

export const silent = createLogger('silent');

/** A new migrated, empty database. `close` removes it. */
export async function createTestDatabase(kind: TestDatabaseKind): Promise<Database> {
  if (kind === 'memory') {
    await ensureTemplate();
    return openKeptDatabase({ kind: 'memory' }, { log: silent });
  }
  const { url, drop } = await createServerDatabase(await serverTemplate());
  const database = await openDatabase({ kind: 'server', url }, { log: silent });
  return { ...database, close: () => database.close().finally(drop) };
}

/** A database on the server, without any table unless it is copied from a template. */
export async function createServerDatabase(
  template?: string,
): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const name = `latchkey_test_${randomBytes(8).toString('hex')}`;
  await onServer(async (admin) => {
    await admin.query(`CREATE DATABASE ${name} ${template ? `TEMPLATE ${template}` : ''}`);
    await admin.query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
  });
  return {
    url: urlOf(name),
    drop: async () => {
      await onServer((admin) => admin.query(`DROP DATABASE ${name} WITH (FORCE)`));
    },
  };
}

/** Creates the embedded database's template once for all test processes. */
export async function ensureTemplate(): Promise<void> {
  const migrations = await readMigrations();
  await mkdir(templatesDirectory, { recursive: true });
  while (findTemplate(migrations) === null) {
    const lock = await takeLock(templatesDirectory, '').catch((error: unknown) => {
      if (error instanceof DatabaseStartError && error.problem === 'locked') return null;
      throw error;
    });
    if (lock === null) await sleep(200);
    else await prepareEmbedded().finally(() => lock.release());
  }
}

/** A migrated database on the server to copy from, created once: copying takes a tenth of the time of migrating. */
export async function serverTemplate(): Promise<string> {
  const migrations = await readMigrations();
  const every = [...migrations, ...(await laterMigrations())];
  const hash = createHash('sha256').update(JSON.stringify(every.map((each) => each.checksum)));
  const name = `latchkey_template_${hash.digest('hex').slice(0, 16)}`;
  await onServer(async (admin) => {
    await admin.query('SELECT pg_advisory_lock(72707371)');
    const found = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (found.rowCount !== 0) return;
    // Renamed when it is complete, so that a partial one is never copied.
    await admin.query(`DROP DATABASE IF EXISTS ${name}_new`);
    await admin.query(`CREATE DATABASE ${name}_new`);
    const database = await openDatabase({ kind: 'server', url: urlOf(`${name}_new`) }, { log: silent });
    await applyLaterMigrations(database);
    await database.close();
    await admin.query(`ALTER DATABASE ${name}_new RENAME TO ${name}`);
  });
  return name;
}

async function onServer<T>(work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: urlOf() });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

function urlOf(database?: string): string {
  if (serverUrl === null) throw new Error('Set TEST_DATABASE_URL to run this on a PostgreSQL server.');
  const url = new URL(serverUrl);
  if (database !== undefined) url.pathname = `/${database}`;
  return url.href;
}
