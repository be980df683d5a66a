import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { serverUrl } from './database.ts';

/** A database and a role with settings of the test. Both are removed at the end. */
export interface OddDatabase {
  /** The URL of the database for the role. */
  readonly url: string;
  readonly name: string;
  readonly role: string;
  /** The environment of a service that uses it. */
  readonly env: { readonly DATABASE_URL: string; readonly SERVICE_SECRET: string };
  /** Runs SQL in the database as the superuser, without the settings of the test. */
  run<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]>;
  /** Ends every connection to it, so that new ones get the current settings. */
  disconnect(): Promise<void>;
}

export interface OddDatabaseOptions {
  /** Settings of the database, by name. */
  readonly ofDatabase?: Readonly<Record<string, string>>;
  /** Settings of the role in the database, by name. */
  readonly ofRole?: Readonly<Record<string, string>>;
  /** SQL that follows CREATE DATABASE; by default, the role is the owner. */
  readonly creation?: string;
  /** SQL to run in the new database. `$role` is the role. */
  readonly prepare?: string;
}

export async function createOddDatabase(options: OddDatabaseOptions = {}): Promise<OddDatabase> {
  const name = `latchkey_odd_${randomBytes(8).toString('hex')}`;
  const role = `${name}_role`;
  const { ofDatabase = {}, ofRole = {}, creation = `OWNER ${role}`, prepare = '' } = options;
  await query('', [`CREATE ROLE ${role} LOGIN`, `CREATE DATABASE ${name} ${creation}`]);
  onTestFinished(async () => {
    await query('', [`DROP DATABASE ${name} WITH (FORCE)`, `DROP ROLE ${role}`]);
  });
  if (prepare !== '') await query(name, [prepare.replaceAll('$role', role)]);
  await query('', [
    ...Object.entries(ofDatabase).map(([setting, value]) => set(`DATABASE ${name}`, setting, value)),
    ...Object.entries(ofRole).map(([setting, value]) =>
      set(`ROLE ${role} IN DATABASE ${name}`, setting, value),
    ),
  ]);
  const url = new URL(serverUrl ?? '');
  url.pathname = `/${name}`;
  url.username = role;
  return {
    url: url.href,
    name,
    role,
    env: { DATABASE_URL: url.href, SERVICE_SECRET: randomBytes(32).toString('base64') },
    run: (sql) => query(name, [sql]),
    disconnect: async () => {
      await query('', [
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`,
      ]);
    },
  };
}

/** A list such as search_path is not quoted. */
const set = (whose: string, setting: string, value: string): string =>
  `ALTER ${whose} SET ${setting} TO ${setting === 'search_path' ? value : pg.escapeLiteral(value)}`;

/** Runs statements one by one, because a database cannot be created in a transaction. Returns the rows of the last. */
async function query<Row extends pg.QueryResultRow>(
  database: string,
  statements: readonly string[],
): Promise<Row[]> {
  const url = new URL(serverUrl ?? '');
  if (database !== '') url.pathname = `/${database}`;
  const client = new pg.Client({
    connectionString: url.href,
    // Settings that a test makes on the database must not affect these queries.
    options:
      '-c datestyle=ISO -c search_path=public -c default_transaction_read_only=off -c statement_timeout=0',
  });
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) ({ rows } = await client.query<Row>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
