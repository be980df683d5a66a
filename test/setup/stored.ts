import { queryWithoutTimeout } from '../../src/db/in-transaction.ts';
import type { TestServer } from './server.ts';

/** Runs SQL on a test server's database without a timeout. */
export async function sql<Row extends object>(
  server: TestServer,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { rows } = await queryWithoutTimeout<Row>(server.deps.services.database.pool, text, [...values]);
  return rows;
}

const tables = [
  'developers',
  'api_keys',
  'account_sessions',
  'recovery_codes',
  'applications',
  'policies',
  'licenses',
  'previous_license_keys',
  'devices',
  'end_users',
  'end_user_sessions',
  'bans',
  'security_log',
  'webhooks',
  'webhook_deliveries',
];

/** The columns by which the rows of a table without an id are ordered. */
const keys: Readonly<Record<string, string>> = {
  previous_license_keys: 'key_hash',
  recovery_codes: 'developer_id, code_hash',
};

/** What the service writes in the background: when a credential was last used, and what it sends to webhooks. */
const inBackground: Readonly<Record<string, readonly string[]>> = {
  account_sessions: ['last_seen_at'],
  api_keys: ['last_used_at'],
  webhooks: ['last_sequence', 'failing_since', 'last_success_at'],
  webhook_deliveries: [
    'attempts',
    'next_attempt_at',
    'claimed_until',
    'last_attempt_at',
    'latency_milliseconds',
    'status_code',
    'answer',
    'error',
  ],
};

/**
 * All data of the database, including pending writes, to check that nothing changes. Left out is what the service writes in
 * the background.
 */
export async function databaseState(server: TestServer): Promise<Record<string, unknown>> {
  await server.deps.services.securityLog.flush();
  const state: Record<string, unknown> = {};
  for (const table of tables) {
    const [row] = await sql<{ rows: unknown }>(
      server,
      `SELECT coalesce(jsonb_agg(to_jsonb(t) - $1::text[] ORDER BY ${keys[table] ?? 'id'}), '[]') AS rows
       FROM ${table} AS t`,
      [inBackground[table] ?? []],
    );
    state[table] = row?.rows;
  }
  return state;
}

export interface StoredLicense {
  readonly status: string;
  readonly activatedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly hwid: string | null;
  readonly lastIp: string | null;
}

/** The row of a license; undefined if it was deleted. */
export async function storedLicense(server: TestServer, id: string): Promise<StoredLicense | undefined> {
  const [row] = await sql<StoredLicense>(
    server,
    `SELECT status::text AS status, activated_at AS "activatedAt", expires_at AS "expiresAt", hwid,
       last_ip AS "lastIp" FROM licenses WHERE id = $1`,
    [id],
  );
  return row;
}

export interface StoredLogEntry {
  readonly event: string;
  readonly code: string | null;
  readonly licenseId: string | null;
  readonly ip: string | null;
  readonly hwid: string | null;
  readonly metadata: unknown;
}

/** An application's log entries of one kind, oldest first, after pending writes. */
export async function storedLog(
  server: TestServer,
  applicationId: string,
  event: string,
): Promise<StoredLogEntry[]> {
  await server.deps.services.securityLog.flush();
  return sql<StoredLogEntry>(
    server,
    `SELECT event, code, license_id AS "licenseId", ip, hwid, metadata FROM security_log
     WHERE application_id = $1 AND event = $2 ORDER BY id`,
    [applicationId, event],
  );
}

/** Bans a device or an address by a row only. This takes effect at once only if it is not cached. */
export async function insertBan(
  server: TestServer,
  applicationId: string,
  banType: 'hwid' | 'ip',
  value: string,
): Promise<void> {
  await sql(
    server,
    `INSERT INTO bans (id, application_id, ban_type, value) VALUES (gen_random_uuid(), $1, $2::"BanType", $3)`,
    [applicationId, banType, value],
  );
  await server.deps.services.changes.tell([{ cache: 'ban', keys: [applicationId] }]);
}
