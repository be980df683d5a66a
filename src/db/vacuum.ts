import type { Database } from './database.ts';

/**
 * Updates the planner's statistics of changed tables in an embedded database, by the rule of autovacuum, which it lacks.
 * With outdated statistics, the planner reads a list that has grown with the wrong index.
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
 * Reclaims dead rows and updates the planner's statistics of an embedded database. It has no autovacuum, because the
 * engine runs in PostgreSQL's single-user mode. A server has its own autovacuum.
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
      // One statement per table: there is one connection, and requests run in between.
      for (const { name } of rows) await pool.query(`VACUUM (ANALYZE) ${name}`);
    }
  }
}
