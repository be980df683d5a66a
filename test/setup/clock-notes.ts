import type pg from 'pg';

const day = 24 * 60 * 60 * 1000;

/** Records this time as if by an earlier maintenance run, so that data that expired before it may be purged. */
export async function noteClock(pool: pg.Pool, at: number = Date.now() - day): Promise<void> {
  await pool.query('INSERT INTO clock_notes (at) VALUES ($1) ON CONFLICT DO NOTHING', [new Date(at)]);
}
