import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../src/db/migrate.ts';
import { type Migration, readMigrations } from '../../src/db/migrations.ts';
import { newId } from '../../src/lib/ids.ts';
import { createServerDatabase, serverUrl, silent } from '../setup/database.ts';

if (serverUrl === null) {
  process.stderr.write(
    'Skipped: the migration of devices under load, because TEST_DATABASE_URL is not set.\n',
  );
}

const upTo = async (last: string): Promise<Migration[]> =>
  (await readMigrations()).filter(({ name }) => name < last);
/** The version before licenses had several devices, and the version after the copy of their devices. */
const before = () => upTo('20261123100000');
const after = () => upTo('20261123100400');

const hashOf = (hwid: string) => createHash('sha256').update(hwid).digest('base64url');

/** A database of the version before, with licenses: a third bound, a third bound by hash, a third not. */
async function oldDatabase(licenses: number): Promise<{ pool: pg.Pool; ids: string[] }> {
  const { url, drop } = await createServerDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 12 });
  pool.on('error', () => undefined);
  onTestFinished(async () => {
    await pool.end();
    await drop();
  });
  await migrate(pool, { log: silent, migrations: await before() });
  const [developerId, applicationId] = [newId(), newId()];
  await pool.query(
    `INSERT INTO developers (id, email, email_normalized, name, password_hash) VALUES ($1, 'a', 'a', 'Ada', '$argon2id$none')`,
    [developerId],
  );
  await pool.query(
    `INSERT INTO applications (id, developer_id, name, public_key, private_key_encrypted)
     VALUES ($1, $2, 'Photo Lab', $3, $4)`,
    [applicationId, developerId, randomBytes(32), randomBytes(60)],
  );
  const { rows } = await pool.query<{ id: string }>(
    `INSERT INTO licenses (id, application_id, key_hash, key_prefix, status, activated_at, hwid, device_hash, last_ip)
     SELECT gen_random_uuid(), $1, sha256(n::text::bytea), 'ABCDE', 'active', now() - interval '1 day',
       CASE n % 3 WHEN 0 THEN 'device ' || n END, CASE n % 3 WHEN 1 THEN 'hash ' || n END, '192.0.2.7'
     FROM generate_series(1, $2) AS n RETURNING id`,
    [applicationId, licenses],
  );
  return { pool, ids: rows.map(({ id }) => id) };
}

/** What the version before does to the binding of a license, with its conditions. */
const statements = {
  bind: `UPDATE licenses SET hwid = coalesce($2, hwid), device_hash = CASE WHEN $2 IS NULL THEN device_hash END, updated_at = now()
    WHERE id = $1 AND hwid IS NULL AND device_hash IS NULL`,
  bindByHash: `UPDATE licenses SET device_hash = $2, updated_at = now() WHERE id = $1 AND hwid IS NULL AND device_hash IS NULL`,
  identify: `UPDATE licenses SET hwid = coalesce($2, hwid), device_hash = CASE WHEN $2 IS NULL THEN device_hash END, updated_at = now()
    WHERE id = $1 AND hwid IS NULL AND device_hash IS NOT NULL`,
  reset:
    'UPDATE licenses SET hwid = NULL, device_hash = NULL, updated_at = now() WHERE id = $1 AND $2::text IS NOT NULL',
  touch: 'UPDATE licenses SET last_ip = $2 WHERE id = $1',
} as const;
const kinds = Object.keys(statements) as (keyof typeof statements)[];

const pick = <Item>(items: readonly Item[]): Item => {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('There is nothing to pick');
  return item;
};

/** Writers of the version before, until they are stopped. Few HWIDs, so that devices return. Answers the longest write. */
function startWriters(pool: pg.Pool, ids: readonly string[], amount: number) {
  let isStopped = false;
  let longest = 0;
  let writes = 0;
  const write = async () => {
    while (!isStopped) {
      const [kind, device] = [pick(kinds), pick(['one', 'two'])];
      const began = performance.now();
      await pool.query(statements[kind], [pick(ids), kind === 'bindByHash' ? hashOf(device) : device]);
      longest = Math.max(longest, performance.now() - began);
      writes += 1;
    }
  };
  const ended = Promise.all(Array.from({ length: amount }, write));
  return {
    stop: async () => {
      isStopped = true;
      await ended;
      return { longest, writes };
    },
  };
}

/** Licenses whose active devices are not exactly the one that they are bound to. */
async function wrongLicenses(pool: pg.Pool): Promise<unknown[]> {
  const { rows } = await pool.query(
    `SELECT id, hwid, device_hash, device_count, own.devices FROM licenses
     CROSS JOIN LATERAL (
       SELECT coalesce(jsonb_agg(jsonb_build_array(hwid, device_hash)), '[]') AS devices
       FROM devices WHERE license_id = licenses.id AND released_at IS NULL
     ) AS own
     WHERE own.devices IS DISTINCT FROM CASE
         WHEN hwid IS NULL AND device_hash IS NULL THEN '[]'
         ELSE jsonb_build_array(jsonb_build_array(hwid, device_hash)) END
       OR coalesce(device_count, jsonb_array_length(own.devices)) <> jsonb_array_length(own.devices)
     LIMIT 5`,
  );
  return rows;
}

describe.skipIf(serverUrl === null)('the migration of devices', () => {
  test('makes each bound HWID and hash one device, and no other', async () => {
    const { pool } = await oldDatabase(300);
    await migrate(pool, { log: silent, migrations: await after() });
    expect(await wrongLicenses(pool)).toEqual([]);
    const { rows } = await pool.query(
      `SELECT count(*)::int AS devices, count(hwid)::int AS known, count(DISTINCT license_id)::int AS licenses,
         bool_and(first_seen_at < now() - interval '23 hours') AS since, bool_and(last_ip = '192.0.2.7') AS ip FROM devices`,
    );
    expect(rows).toEqual([{ devices: 200, known: 100, licenses: 200, since: true, ip: true }]);
  });

  test.each(Array.from({ length: 3 }, (_, round) => round))(
    'misses nothing that the version before does meanwhile, and afterwards (round %i)',
    async () => {
      const { pool, ids } = await oldDatabase(4_000);
      // A few licenses get most of the writes: each is changed again and again within every step.
      const writers = startWriters(pool, ids.slice(0, 150), 6);
      await sleep(100);
      await migrate(pool, { log: silent, migrations: await after() });
      await sleep(300);
      expect((await writers.stop()).writes).toBeGreaterThan(200);
      expect(await wrongLicenses(pool)).toEqual([]);
    },
  );

  test('copies a device that is identified while it is copied', async () => {
    const { pool, ids } = await oldDatabase(3);
    const id = (await pool.query<{ id: string }>('SELECT id FROM licenses WHERE device_hash IS NOT NULL'))
      .rows[0]?.id;
    expect(ids).toContain(id);
    const [copy, ...rest] = (await after()).slice(-2);
    await migrate(pool, { log: silent, migrations: (await after()).slice(0, -2) });
    const copying = await pool.connect();
    await copying.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await copying.query('SELECT count(*) FROM licenses');
    // The copy has its snapshot, and has not come to the license.
    await pool.query(statements.identify, [id, 'device']);
    await copying.query(copy?.sql ?? '');
    await copying.query('COMMIT');
    copying.release();
    for (const { sql } of rest) await pool.query(sql);
    expect(await wrongLicenses(pool)).toEqual([]);
  });

  test('holds up no writer for long, with 200,000 licenses', { tags: 'slow' }, async () => {
    const { pool, ids } = await oldDatabase(200_000);
    await pool.query('ANALYZE licenses');
    const writers = startWriters(pool, ids, 6);
    const began = performance.now();
    await migrate(pool, { log: silent, migrations: await after() });
    const took = Math.round(performance.now() - began);
    const { longest, writes } = await writers.stop();
    process.stderr.write(
      `200,000 licenses were migrated in ${took} ms; the longest of ${writes} writes meanwhile took ${Math.round(longest)} ms.\n`,
    );
    expect(await wrongLicenses(pool)).toEqual([]);
    expect(longest).toBeLessThan(Math.max(2_000, took / 3));
  });
});
