import type { Database } from './database.ts';

/**
 * Renews the planner's statistics of what has changed in an embedded database, by the rule of autovacuum, which it does
 * not have: without them a list that has grown is read by the wrong index.
 */
export async function analyzeEmbedded({ kind, pool }: Pick<Database, 'kind' | 'pool'>): Promise<void> {
  if (kind === 'server') return;
  const { rows } = await pool.query<{ name: string }>(
    `SELECT format('%I', relname) AS name FROM pg_stat_user_tables
     WHERE n_mod_since_analyze > 50 + 0.1 * n_live_tup ORDER BY relname`,
  );
  for (const { name } of rows) await pool.query(`ANALYZE ${name}`);
}

/**
 * Reclaims dead rows and renews the planner's statistics of an embedded database, which has no autovacuum: the engine
 * runs in PostgreSQL's single-user mode. A server does this by itself, and is left alone.
 */
export async function vacuumEmbedded({ kind, pool }: Pick<Database, 'kind' | 'pool'>): Promise<void> {
  switch (kind) {
    case 'server':
      return;
    case 'embedded':
    case 'memory': {
      const { rows } = await pool.query<{ name: string }>(
        `SELECT format('%I', relname) AS name FROM pg_stat_user_tables ORDER BY relname`,
      );
      // A table at a time: there is one connection, and requests go between.
      for (const { name } of rows) await pool.query(`VACUUM (ANALYZE) ${name}`);
    }
  }
}
