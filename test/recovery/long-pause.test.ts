/** @module-tag slow */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { DatabaseAddress } from '../../src/db/address.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { lowestId, partitionOf } from '../../src/db/log-partition.ts';
import { ensureLogPartitions } from '../../src/db/log-partitions.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { maintain } from '../../src/services/maintenance.ts';
import { noteClock } from '../setup/clock-notes.ts';
import { createServerDatabase, databaseKinds, ensureTemplate, silent } from '../setup/database.ts';

/** The first start after 400 days without maintenance. */

const day = 24 * 60 * 60 * 1000;
const ago = (days: number) => Date.now() - days * day;
/** More rows than one statement deletes. */
const many = 12_000;

async function freshAddress(kind: 'memory' | 'server'): Promise<DatabaseAddress> {
  if (kind === 'server') {
    const { url, drop } = await createServerDatabase();
    onTestFinished(drop);
    return { kind: 'server', url };
  }
  await ensureTemplate();
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-pause-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return { kind: 'embedded', directory: join(directory, 'data') };
}

async function partitions({ pool }: Database): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'security_log'::regclass ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** The number of remaining rows of each kind. */
async function kept({ pool }: Database) {
  const { rows } = await pool.query<Record<string, number>>(`
    SELECT (SELECT count(*)::int FROM security_log) AS entries,
      (SELECT count(*)::int FROM security_log_default) AS strays,
      (SELECT count(*)::int FROM end_user_sessions) AS sessions,
      (SELECT count(*)::int FROM validation_counts) AS counts,
      (SELECT count(*)::int FROM cache_changes) AS changes`);
  return rows[0];
}

/** A database that was last maintained 400 days ago and has been used since. */
async function leaveBehind(database: Database): Promise<void> {
  const { pool, prisma } = database;
  for (const name of await partitions(database)) {
    if (name !== 'security_log_default') await pool.query(`DROP TABLE ${name}`);
  }
  await ensureLogPartitions(pool, new Date(ago(400)));
  await pool.query('DELETE FROM clock_notes');
  await noteClock(pool, ago(400));
  const id = randomUUID();
  const { id: developerId } = await prisma.developer.create({
    data: { id, email: id, emailNormalized: id, name: '', passwordHash: '$argon2id$' },
  });
  const application = { id: randomUUID(), developerId, name: 'Photo Lab', publicKey: new Uint8Array(32) };
  await prisma.application.create({ data: { ...application, privateKeyEncrypted: new Uint8Array(60) } });
  const { id: endUserId } = await prisma.endUser.create({
    data: { id: randomUUID(), applicationId: application.id, username: 'grace', passwordHash: '$argon2id$' },
  });
  const log = (days: number) =>
    pool.query(`INSERT INTO security_log (id, developer_id, event) VALUES ($1, $2, 'test')`, [
      lowestId(ago(days)),
      developerId,
    ]);
  // A week has a partition from the week before it on, so an entry of ten days ago may have none.
  for (const days of [399, 395, 300, 200, 100, 5, 0]) await log(days);
  await pool.query(
    `INSERT INTO end_user_sessions (id, end_user_id, token_hash, expires_at)
     SELECT gen_random_uuid(), $1, sha256(n::text::bytea),
       now() + CASE WHEN n = 0 THEN interval '1 day' ELSE interval '-2 days' END
     FROM generate_series(0, ${many}) AS n`,
    [endUserId],
  );
  await pool.query(
    `INSERT INTO validation_counts (developer_id, application_id, minute, code, count)
     SELECT $1, $2, floor(extract(epoch FROM now()) / 60)::int - n * 20 - 10, 'OK', 1 FROM generate_series(0, ${many}) AS n`,
    [developerId, application.id],
  );
  await pool.query(
    `INSERT INTO cache_changes (cache, keys, changed_at) VALUES ('ban', '["old"]', now() - interval '400 days')`,
  );
}

describe.each(databaseKinds)('after 400 days without maintenance, on %s', (kind) => {
  test('a start prepares for this week, purges nothing at once, and purges all expired data a day later', async () => {
    const address = await freshAddress(kind);
    const before = await openDatabase(address, { log: silent });
    await leaveBehind(before);
    await before.close();

    const database = await openDatabase(address, { log: silent });
    onTestFinished(database.close);
    const weeks = [-1, 0, 1, 2, 3, 4].map((week) => partitionOf(Date.now(), week).name);
    expect(await partitions(database)).toEqual(expect.arrayContaining(weeks));
    const left = await kept(database);
    expect(left).toMatchObject({ entries: 7, sessions: many + 1, counts: many + 1, changes: 1 });

    const options = { database, clock: systemClock, log: silent, retentionDays: 90 };
    await maintain(options);
    // Deletes only what the times recorded 400 days ago allow.
    expect(await kept(database)).toMatchObject({ entries: 7, sessions: many + 1, counts: many + 1 });
    // With recorded times of a day later.
    await noteClock(database.pool, ago(1));
    await maintain(options);
    const { counts = 0, ...others } = (await kept(database)) ?? {};
    expect(others).toEqual({ entries: 2, strays: 0, sessions: 1, changes: 0 });
    // Three an hour for 25 to 26 hours, and one an hour for the 31 days before a day ago.
    expect(Math.abs(counts - (25.5 * 3 + 32 * 24 - 25.5))).toBeLessThan(5);
    expect((await partitions(database)).toSorted()).toEqual([...weeks, 'security_log_default'].toSorted());
  }, 300_000);
});
