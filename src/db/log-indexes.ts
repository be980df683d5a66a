import pg from 'pg';
import { advisoryLocks } from './advisory-locks.ts';
import { buildMissing } from './build-indexes.ts';

interface MissingIndex {
  readonly partition: string;
  readonly parentIndex: string;
  readonly name: string;
  /** What follows `CREATE INDEX … USING`. */
  readonly definition: string;
}

/**
 * A migration creates an index of the security log only on the parent table (ON ONLY). This builds it on the existing
 * partitions, one by one and concurrently, so that writes continue. Call it at start without waiting for it. Several
 * instances can call it at the same time: one builds. An invalid index of an interrupted build is rebuilt.
 * @returns the names of the indexes that were built
 */
export const buildLogIndexes = (pool: pg.Pool, stop?: AbortSignal): Promise<string[]> =>
  buildMissing(pool, {
    advisoryLock: advisoryLocks.logIndexes,
    stop,
    missing,
    build: async (run, { partition, parentIndex, name, definition }) => {
      const index = pg.escapeIdentifier(name);
      await run(`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
      await run(
        `CREATE INDEX CONCURRENTLY ${index} ON ${pg.escapeIdentifier(partition)} USING ${definition}`,
      );
      await run(`ALTER INDEX ${pg.escapeIdentifier(parentIndex)} ATTACH PARTITION ${index}`);
    },
  });

/** An index of the parent table is invalid as long as a partition lacks it. */
async function missing(client: pg.Pool | pg.ClientBase): Promise<MissingIndex[]> {
  const found = await client.query<MissingIndex>(
    `SELECT partition.relname AS partition, parent.relname AS "parentIndex",
       partition.relname || substr(parent.relname, length('security_log') + 1) AS name,
       split_part(pg_get_indexdef(parent.oid), ' USING ', 2) AS definition
     FROM pg_index JOIN pg_class AS parent ON parent.oid = pg_index.indexrelid
     JOIN pg_inherits ON pg_inherits.inhparent = pg_index.indrelid
     JOIN pg_class AS partition ON partition.oid = pg_inherits.inhrelid
     WHERE pg_index.indrelid = 'security_log'::regclass AND NOT pg_index.indisvalid
       AND NOT EXISTS (
         SELECT FROM pg_inherits AS attached JOIN pg_index AS own ON own.indexrelid = attached.inhrelid
         WHERE attached.inhparent = parent.oid AND own.indrelid = partition.oid)
     ORDER BY partition.relname DESC`,
  );
  return found.rows;
}
