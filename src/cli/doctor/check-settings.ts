import type { Pool } from 'pg';
import { describeMissingRights, findMissingRights } from '../../db/missing-rights.ts';
import type { MigrateMode } from '../../db/schema-upkeep.ts';
import { isSessionShared, pinnedSettings, requestLimits, schema } from '../../db/session-settings.ts';
import { strayInstallations } from '../../db/stray-installations.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('database');

/** PostgreSQL settings of the role and the database, and their effect on the service. */
export async function checkSettings(pool: Pool, migrate: MigrateMode): Promise<readonly Finding[]> {
  return [
    ...(await checkSharedSessions(pool)),
    ...(await checkOverridden(pool)),
    ...(await checkHonoured(pool)),
    await checkSchema(pool, migrate),
  ];
}

/** Timeouts: the service sets them for its own sessions, but cannot for sessions that a pooler shares between clients. */
async function checkSharedSessions(pool: Pool): Promise<readonly Finding[]> {
  const client = await pool.connect();
  try {
    if (!(await isSessionShared(client))) return [];
    const { rows } = await client.query<{ name: string }>(
      `SELECT name FROM pg_settings WHERE name = ANY($1) AND setting = '0'`,
      [Object.keys(requestLimits)],
    );
    if (rows.length === 0) return [ok('The connection goes through a pooler, and the role has timeouts')];
    const missing = Object.entries(requestLimits).filter(([name]) => rows.some((row) => row.name === name));
    return [
      warn(
        'The connection goes through a pooler, so the service cannot set timeouts. Run ' +
          `${missing.map(([name, value]) => `ALTER ROLE CURRENT_USER SET ${name} = '${value}'`).join('; ')}. ` +
          'See docs/postgresql.md.',
      ),
    ];
  } finally {
    client.release();
  }
}

/** Settings of the database or the role that the service overrides in its own sessions. */
async function checkOverridden(pool: Pool): Promise<readonly Finding[]> {
  const { rows } = await pool.query<{ setting: string }>(
    `SELECT DISTINCT setting FROM pg_db_role_setting CROSS JOIN unnest(setconfig) AS setting
     WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
       AND setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = session_user))
       AND lower(split_part(setting, '=', 1)) = ANY($1)
     ORDER BY 1`,
    [pinnedSettings.map(({ name }) => name.toLowerCase())],
  );
  if (rows.length === 0) return [];
  const settings = rows.map(({ setting }) => setting).join('; ');
  return [
    ok(`Set on the database or the role, and overridden by the service in its own sessions: ${settings}`),
  ];
}

async function checkHonoured(pool: Pool): Promise<readonly Finding[]> {
  const { rows } = await pool.query<{ isReadOnly: boolean; mayLose: boolean }>(
    `SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly",
       current_setting('synchronous_commit') = 'off' AS "mayLose"`,
  );
  const { isReadOnly, mayLose } = rows[0] ?? { isReadOnly: false, mayLose: false };
  return [
    ...(isReadOnly
      ? [
          warn(
            'The database is read-only (default_transaction_read_only is on, or the server is a standby): writes are ' +
              'refused, and a start with pending migrations fails.',
          ),
        ]
      : []),
    ...(mayLose
      ? [
          warn(
            'synchronous_commit is off: changes that the service acknowledged, such as a ban, may be lost if the ' +
              'server crashes.',
          ),
        ]
      : []),
  ];
}

/** Prisma reads the parameter `schema`, so its users expect it to work. */
export function checkAddress(url: string): readonly Finding[] {
  const named = new URL(url).searchParams.get('schema');
  if (named === null || named === schema) return [];
  return [
    warn(`DATABASE_URL names the schema "${named}", which is ignored: Latchkey's tables are in ${schema}.`),
  ];
}

/**
 * Without the right to create tables, the service cannot create the log's partitions. With MIGRATE=check it need not, but
 * it needs rights on tables that it does not own.
 */
async function checkSchema(pool: Pool, migrate: MigrateMode): Promise<Finding> {
  const { rows } = await pool.query<{ mayCreate: boolean; user: string }>(
    `SELECT has_schema_privilege($1, 'CREATE') AS "mayCreate", quote_ident(current_user) AS user`,
    [schema],
  );
  const [found] = rows;
  if (migrate === 'check') {
    const missing = await findMissingRights(pool);
    if (missing !== null) return fail(describeMissingRights(missing));
  } else if (found?.mayCreate === false) {
    return fail(
      `The user ${found.user} may not create tables in the schema ${schema}, and the security log needs one each week: as ` +
        `the database's owner, run GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${found.user}; or set MIGRATE=check.`,
    );
  }
  const others = await strayInstallations(pool);
  return others.length === 0
    ? ok(`Latchkey's tables are in the schema ${schema}`)
    : warn(
        `Latchkey's tables are in the schema ${schema}. Those with the same names in ${others.join(' and ')} are not ` +
          'used: an earlier version created them where search_path pointed. Check whether anything was restored into ' +
          'them; if not, drop them.',
      );
}
