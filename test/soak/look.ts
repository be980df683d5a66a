import pg from 'pg';
import { z } from 'zod';
import type { BenchDatabase } from '../bench/database.ts';
import type { ServiceProcess } from '../bench/service.ts';
import type { HeldMemory } from './flat.ts';

/** What a service holds at a moment. */
export interface Look extends HeldMemory {
  readonly rss: number;
  readonly handles: number;
  /** Connections to the PostgreSQL server; null on the embedded database, which has one. */
  readonly connections: number | null;
  /** How long the transaction has idled that does so the longest; 0 where none does, null on the embedded database. */
  readonly idleSeconds: number | null;
  /** Entries of the log that are written; null on the embedded database. */
  readonly logEntries: number | null;
}

const activity = z.object({ connections: z.number(), idle: z.number(), entries: z.number() });

/** @param startedAt of `performance.now()` */
export function createLook(service: ServiceProcess, database: BenchDatabase, startedAt: number) {
  return async (): Promise<Look> => {
    const { heapUsed, rss, handles } = await service.memory();
    const found = database.kind === 'server' ? await askServer(database.env.DATABASE_URL ?? '') : null;
    return {
      minutes: (performance.now() - startedAt) / 60_000,
      heapUsed,
      rss,
      handles,
      connections: found?.connections ?? null,
      idleSeconds: found?.idle ?? null,
      logEntries: found?.entries ?? null,
    };
  };
}

async function askServer(connectionString: string): Promise<z.output<typeof activity>> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query(`
      SELECT count(*)::int AS connections,
        coalesce(max(extract(epoch FROM now() - state_change)) FILTER (WHERE state LIKE 'idle in transaction%'), 0)::float AS idle,
        (SELECT count(*)::int FROM security_log) AS entries
      FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    return activity.parse(rows[0]);
  } finally {
    await client.end();
  }
}
