import type pg from 'pg';
import { type Applied, migrationOrder } from '../db/migration-history.ts';

/**
 * What has been applied to a database, in the order in which it applies; nothing where nothing of Latchkey's is. Changes
 * nothing.
 */
export async function readAppliedMigrations(client: pg.Pool | pg.ClientBase): Promise<Applied[]> {
  const found = await client.query<{ exists: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`,
  );
  if (found.rows[0]?.exists !== true) return [];
  const { rows } = await client.query<Applied>(
    `SELECT migration_name, checksum, finished_at FROM _prisma_migrations
     WHERE rolled_back_at IS NULL ORDER BY ${migrationOrder}`,
  );
  return rows;
}
