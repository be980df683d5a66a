import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { buildLogIndexes } from '../../src/db/log-indexes.ts';
import { lowestId } from '../../src/db/log-partition.ts';
import { ensureLogPartitions } from '../../src/db/log-partitions.ts';
import { createTestDatabase, databaseKinds } from '../setup/database.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** A database after a migration that added an index while there were partitions. */
async function databaseWithoutIndexes(kind: 'memory' | 'server'): Promise<Database> {
  const database = await createTestDatabase(kind);
  undo.push(database.close);
  await database.pool.query('DROP INDEX security_log_license_id_id_idx');
  await database.pool.query(
    'CREATE INDEX security_log_license_id_id_idx ON ONLY security_log (license_id, id)',
  );
  return database;
}

/** The partitions with a valid index of licenses. */
async function indexed({ pool }: Database): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT indrelid::regclass::text AS name FROM pg_index
     WHERE indrelid::regclass::text LIKE 'security\\_log\\_%' AND indisvalid
       AND pg_get_indexdef(indexrelid) LIKE '%(license_id, id)' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

async function partitions({ pool }: Database): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'security_log'::regclass ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

describe.each(databaseKinds)('the indexes of older log partitions on %s', (kind) => {
  it('exist from the start in a new database', async () => {
    const database = await createTestDatabase(kind);
    undo.push(database.close);
    expect(await indexed(database)).toEqual(await partitions(database));
    expect(await buildLogIndexes(database.pool)).toEqual([]);
  });

  it('are built once on every partition, even by several callers', async () => {
    const database = await databaseWithoutIndexes(kind);
    expect(await indexed(database)).toEqual([]);
    const callers = Array.from({ length: 3 }, () => buildLogIndexes(database.pool));
    const built = (await Promise.all(callers)).flat();
    expect(built.sort()).toEqual((await partitions(database)).map((name) => `${name}_license_id_id_idx`));
    expect(await indexed(database)).toEqual(await partitions(database));
    expect(await buildLogIndexes(database.pool)).toEqual([]);
  });

  it('are part of partitions that are created later', async () => {
    const database = await databaseWithoutIndexes(kind);
    await ensureLogPartitions(database.pool, new Date(Date.now() + 100 * 24 * 60 * 60 * 1000));
    const newest = (await partitions(database)).at(-2);
    expect(await indexed(database)).toContain(newest);
    await buildLogIndexes(database.pool);
    expect(await indexed(database)).toEqual(await partitions(database));
  });

  it('are rebuilt after an interrupted build', async () => {
    const database = await databaseWithoutIndexes(kind);
    const [first = ''] = await partitions(database);
    await database.pool.query(`CREATE INDEX ${first}_license_id_id_idx ON ${first} (license_id)`);
    await buildLogIndexes(database.pool);
    expect(await indexed(database)).toEqual(await partitions(database));
  });

  it('contain entries from before and during the build', async () => {
    const database = await databaseWithoutIndexes(kind);
    const developerId = randomUUID();
    await database.prisma.developer.create({
      data: {
        id: developerId,
        email: developerId,
        emailNormalized: developerId,
        name: '',
        passwordHash: '$argon2id$',
      },
    });
    const licenseId = randomUUID();
    const log = (milliseconds: number) =>
      database.pool.query(
        `INSERT INTO security_log (id, developer_id, event, license_id) VALUES ($1, $2, 'test', $3)`,
        [lowestId(milliseconds).replace(/.{12}$/, randomUUID().slice(-12)), developerId, licenseId],
      );
    const week = 7 * 24 * 60 * 60 * 1000;
    for (let index = 0; index < 20; index++) await log(Date.now() - (index % 2) * week);
    const building = buildLogIndexes(database.pool);
    await Promise.all(Array.from({ length: 20 }, (_, index) => log(Date.now() - (index % 2) * week)));
    await building;
    const client = await database.pool.connect();
    try {
      await client.query('BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off');
      const plan = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN SELECT id FROM security_log WHERE license_id = '${licenseId}' ORDER BY id DESC LIMIT 50`,
      );
      const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(text).toContain('license_id_id_idx');
      expect(text).not.toContain('Seq Scan');
      const { rows } = await client.query('SELECT id FROM security_log WHERE license_id = $1', [licenseId]);
      expect(rows).toHaveLength(40);
      await client.query('ROLLBACK');
    } finally {
      client.release();
    }
  });
});
