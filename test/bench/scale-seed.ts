import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { hashPassword } from '../../src/crypto/password.ts';
import { minEntries } from '../../src/db/log-search/backlog.ts';

export interface ScaleSeedOptions {
  readonly databaseUrl: string;
  readonly applicationId: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Rows of one statement, so that a run can be interrupted, and says how far it is. */
const batch = 100_000;
const dayMilliseconds = 86_400_000;
/** The log's entries are spread over so many days before now, all within partitions that exist. */
const logDays = 7;

/** A UUIDv7 (RFC 9562 §5.7) of a time in milliseconds and a number below 2^36. */
const idOf = (milliseconds: string) => {
  const time = `lpad(to_hex(${milliseconds}), 12, '0')`;
  return `(substr(${time}, 1, 8) || '-' || substr(${time}, 9, 4) || '-7' || lpad(to_hex(number % 4096), 3, '0')
    || '-8' || lpad(to_hex(number / 4096 % 4096), 3, '0') || '-' || lpad(to_hex(number), 12, '0'))::uuid`;
};

/** The license's time is its number's, so that a user can name its license. */
const licenseTime = '$3::bigint + number';
const digits = "lpad(number::text, 9, '0')";

/** Each statement takes the first and the last number, a time in milliseconds, and the application's id. */
const statements = {
  licenses: `INSERT INTO licenses (id, application_id, key_hash, key_prefix, status, duration_seconds, activated_at,
      expires_at, hwid, last_ip, note)
    SELECT ${idOf(licenseTime)}, $4::uuid, sha256(convert_to('SCALE-' || ${digits}, 'UTF8')), 'SCALE-', 'active',
      2592000, now(), now() + interval '30 days', 'device-' || ${digits}, '198.51.100.' || number % 250,
      'Autumn sale'
    FROM generate_series($1::bigint, $2::bigint) AS number`,
  users: `INSERT INTO end_users (id, application_id, username, email, password_hash, license_id, last_ip, last_hwid)
    SELECT ${idOf(licenseTime)}, $4::uuid, 'user-' || ${digits}, 'user-' || ${digits} || '@example.com', $5,
      ${idOf(licenseTime)}, '198.51.100.' || number % 250, 'device-' || ${digits}
    FROM generate_series($1::bigint, $2::bigint) AS number`,
  log: `INSERT INTO security_log (id, developer_id, application_id, event, code, license_id, ip, hwid, created_at)
    SELECT ${idOf('spread.at')}, $6::uuid, $4::uuid, 'license_validated', 'OK', ${idOf('$3::bigint + number % 1000')},
      '198.51.100.' || number % 250, 'device-' || ${digits}, to_timestamp(spread.at / 1000.0)
    FROM generate_series($1::bigint, $2::bigint) AS number,
      LATERAL (SELECT ($3::bigint + ($5::float8 * (number - $7::bigint))::bigint) AS at) AS spread`,
} as const;

/** Writes rows into the bench's own database, past the service. */
export interface ScaleSeeder {
  licensesAndUsers(amount: number): Promise<void>;
  /**
   * Log entries of these numbers, the first included and the last not, spread over the last days. Searches find the
   * first ones alone: to gather millions for them would go on beside what is measured next.
   */
  log(from: number, to: number): Promise<void>;
  /** Has the planner know what is there, once the service has gathered the log for searches. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export async function createScaleSeeder({
  databaseUrl,
  applicationId,
  signal,
  say,
}: ScaleSeedOptions): Promise<ScaleSeeder> {
  const client = new pg.Client({ connectionString: databaseUrl });
  // The database is dropped under it when the run is interrupted; the statement that is under way says so.
  client.on('error', () => undefined);
  await client.connect();
  // Nothing here is worth a wait for the disk.
  await client.query('SET synchronous_commit = off');
  const owner = await client.query<{ developer_id: string }>(
    'SELECT developer_id FROM applications WHERE id = $1',
    [applicationId],
  );
  const passwordHash = await hashPassword('correct horse battery', 'bench');
  const now = Date.now();

  const inBatches = async (
    what: string,
    from: number,
    to: number,
    write: (first: number, last: number) => Promise<unknown>,
  ) => {
    for (let first = from; first < to; first += batch) {
      signal.throwIfAborted();
      await write(first, Math.min(first + batch, to) - 1);
      const done = Math.min(first + batch, to);
      if (to - from > batch)
        say(`  ${what}: ${done.toLocaleString('en-US')} of ${to.toLocaleString('en-US')}`);
    }
  };
  const waiting = async () => {
    const { rows } = await client.query<{ entries: string | null }>(
      'SELECT sum(entries) AS entries FROM log_search_backlog',
    );
    return Number(rows[0]?.entries ?? 0);
  };
  const licenseBase = now - dayMilliseconds;

  return {
    licensesAndUsers: async (amount) => {
      await inBatches('licenses', 0, amount, (first, last) =>
        client.query(statements.licenses, [first, last, licenseBase, applicationId]),
      );
      await inBatches('users', 0, amount, (first, last) =>
        client.query(statements.users, [first, last, licenseBase, applicationId, passwordHash]),
      );
    },
    log: async (from, to) => {
      const span = logDays * dayMilliseconds;
      const step = span / (to - from);
      const owned = owner.rows[0]?.developer_id;
      await inBatches('log', from, to, async (first, last) => {
        await client.query(statements.log, [first, last, now - span, applicationId, step, owned, from]);
        if (from > 0) await client.query('DELETE FROM log_search_backlog');
      });
    },
    settle: async () => {
      for (let left = await waiting(); left >= minEntries; left = await waiting()) {
        say(`  to gather for searches: ${left.toLocaleString('en-US')}`);
        await sleep(5_000, undefined, { signal });
      }
      for (const name of ['licenses', 'end_users', 'security_log', 'log_search_values', 'log_search_blocks'])
        await client.query(`VACUUM (ANALYZE) ${name}`);
    },
    close: () => client.end(),
  };
}
