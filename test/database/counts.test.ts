import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { lowestId } from '../../src/db/log-partition.ts';
import { mergeLicenseCountDeltas } from '../../src/db/merge-count-deltas.ts';
import { newId } from '../../src/lib/ids.ts';
import { createTestDatabase, databaseKinds } from '../setup/database.ts';

const hour = 60 * 60 * 1000;

describe.each(databaseKinds)('the counts of licenses on %s', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await createTestDatabase(kind);
  });
  afterAll(() => database.close());
  const query = async (text: string, values: unknown[] = []) =>
    (await database.pool.query<Record<string, unknown>>(text, values)).rows;

  async function createApplication(): Promise<{ developerId: string; id: string }> {
    const [developerId, id] = [newId(), newId()];
    await query(
      `INSERT INTO developers (id, email, email_normalized, name, password_hash) VALUES ($1, $2, $2, '', '$argon2id$')`,
      [developerId, developerId],
    );
    await query(
      `INSERT INTO applications (id, developer_id, name, public_key, private_key_encrypted) VALUES ($1, $2, 'a', $3, $4)`,
      [id, developerId, randomBytes(32), randomBytes(60)],
    );
    return { developerId, id };
  }

  const addLicenses = (applicationId: string, amount: number) =>
    query(
      `INSERT INTO licenses (id, application_id, key_hash, key_prefix)
       SELECT gen_random_uuid(), $1, sha256(gen_random_uuid()::text::bytea), 'ABCDE' FROM generate_series(1, $2::int)`,
      [applicationId, amount],
    );

  /** The stored counts, and the counts of the rows themselves. */
  async function both(applicationId: string) {
    const counted = await query(
      `SELECT status::text, expiry_hour, sum(count)::int AS count FROM (
         SELECT status, expiry_hour, count FROM license_counts WHERE application_id = $1
         UNION ALL SELECT status, expiry_hour, change FROM license_count_changes WHERE application_id = $1) AS every
       GROUP BY 1, 2 HAVING sum(count) <> 0 ORDER BY 1, 2`,
      [applicationId],
    );
    const there = await query(
      `SELECT status::text, counted_hour(status, expires_at, suspended_at) AS expiry_hour, count(*)::int AS count
       FROM licenses WHERE application_id = $1 GROUP BY 1, 2 ORDER BY 1, 2`,
      [applicationId],
    );
    return { counted, there };
  }

  it('match the licenses during concurrent minting, first uses, extensions, bans and deletions', async () => {
    const { id } = await createApplication();
    await addLicenses(id, 200);
    const some = (amount: number) =>
      `SELECT id FROM licenses WHERE application_id = $1 ORDER BY random() LIMIT ${amount} FOR UPDATE SKIP LOCKED`;
    const changes = [
      `UPDATE licenses SET status = 'active', activated_at = coalesce(activated_at, now()),
         expires_at = now() + random() * interval '10 hours' WHERE id IN (${some(20)})`,
      `UPDATE licenses SET status = 'active', activated_at = coalesce(activated_at, now()), expires_at = NULL
         WHERE id IN (${some(5)})`,
      `UPDATE licenses SET expires_at = expires_at + interval '90 minutes' WHERE id IN (${some(30)})`,
      `UPDATE licenses SET status = 'banned' WHERE id IN (${some(10)})`,
      `UPDATE licenses SET suspended_at = now() WHERE id IN (${some(10)})`,
      `UPDATE licenses SET suspended_at = NULL WHERE id IN (${some(10)})`,
      `UPDATE licenses SET last_ip = '203.0.113.1' WHERE id IN (${some(50)})`,
      `DELETE FROM licenses WHERE id IN (${some(7)})`,
    ];
    await Promise.all(
      Array.from({ length: 6 }, async (_, round) => {
        for (const change of changes) await query(change, [id]);
        await addLicenses(id, 10 + round);
        await mergeLicenseCountDeltas(database.pool);
      }),
    );
    const before = await both(id);
    expect(before.there.length).toBeGreaterThan(5);
    expect(before.counted).toEqual(before.there);
    await mergeLicenseCountDeltas(database.pool);
    expect(await query('SELECT FROM license_count_changes WHERE application_id = $1', [id])).toEqual([]);
    const after = await both(id);
    expect(after.counted).toEqual(before.there);
  });

  it('are rolled back with the change that they count', async () => {
    const { id } = await createApplication();
    await addLicenses(id, 3);
    const client = await database.pool.connect();
    await client.query('BEGIN');
    await client.query('DELETE FROM licenses WHERE application_id = $1', [id]);
    await client.query('ROLLBACK');
    client.release();
    expect((await both(id)).counted).toMatchObject([{ status: 'unused', count: 3 }]);
  });

  it('have no rows with a count of zero', async () => {
    const { id } = await createApplication();
    await addLicenses(id, 3);
    await mergeLicenseCountDeltas(database.pool);
    await query('DELETE FROM licenses WHERE application_id = $1', [id]);
    await mergeLicenseCountDeltas(database.pool);
    await mergeLicenseCountDeltas(database.pool);
    expect(await query('SELECT FROM license_counts WHERE application_id = $1', [id])).toEqual([]);
  });

  it.each(['applications', 'developers'])('are deleted with their owner in %s', async (table) => {
    const { developerId, id } = await createApplication();
    await addLicenses(id, 3);
    await mergeLicenseCountDeltas(database.pool);
    await addLicenses(id, 2);
    await query(
      `INSERT INTO security_log (id, developer_id, application_id, event) VALUES ($1, $2, $3, 'license_validated')`,
      [newId(), developerId, id],
    );
    await query(`DELETE FROM ${table} WHERE id = $1`, [table === 'developers' ? developerId : id]);
    for (const counts of ['license_counts', 'license_count_changes', 'validation_counts']) {
      expect(await query(`SELECT FROM ${counts} WHERE application_id = $1`, [id])).toEqual([]);
    }
  });

  it('of validations match the log by the minute of its ids, with several concurrent writers', async () => {
    const { developerId, id } = await createApplication();
    const now = Date.now();
    const ids = Array.from({ length: 300 }, () =>
      lowestId(now - Math.floor(Math.random() * hour)).replace(/.{12}$/, randomUUID().slice(-12)),
    );
    const write = (some: readonly string[]) =>
      query(
        `INSERT INTO security_log (id, developer_id, application_id, event, code)
         SELECT id, $2, $3, 'license_validated', CASE WHEN id::text < '${lowestId(now - hour / 2)}' THEN 'OK' END
         FROM unnest($1::uuid[]) AS t (id)`,
        [some, developerId, id],
      );
    await Promise.all([0, 1, 2, 3, 4].map((part) => write(ids.filter((_, index) => index % 5 === part))));
    await query(
      `INSERT INTO security_log (id, developer_id, application_id, event) VALUES ($1, $2, $3, 'hwid_reset')`,
      [newId(), developerId, id],
    );
    const counted = await query(
      'SELECT minute, code, count::int FROM validation_counts WHERE application_id = $1 ORDER BY 1, 2',
      [id],
    );
    const expected = new Map<string, number>();
    for (const each of ids) {
      const time = Number.parseInt(each.slice(0, 13).replace('-', ''), 16);
      const key = `${Math.floor(time / 60_000)} ${each < lowestId(now - hour / 2) ? 'OK' : 'UNKNOWN'}`;
      expected.set(key, (expected.get(key) ?? 0) + 1);
    }
    expect(new Map(counted.map(({ minute, code, count }) => [`${minute} ${code}`, count]))).toEqual(expected);
  });
});
