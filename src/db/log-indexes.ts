import pg from 'pg';
import { advisoryLocks } from './advisory-locks.ts';
import { buildMissing } from './build-indexes.ts';

interface MissingIndex {
  readonly partition: string;
  readonly parentIndex: string;
  readonly name: string;
  /** What is indexed, as `CREATE INDEX … USING` is followed by it. */
  readonly definition: string;
}

/**
 * Builds the indexes that a migration gave to the security log alone on the partitions that were there before it, one
 * by one and without holding up those who write to them. Call it at start, and do not wait for it. Several instances
 * may call it at once: one works. What a stopped process left half built is built anew.
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

/** An index of the log that is not valid is one that some partition lacks. */
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
