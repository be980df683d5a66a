import type { Pool } from 'pg';

/**
 * Finds applications that another transaction has locked, as a deletion does, or whose developer it has locked. What concerns
 * a deleted application need not wait: it is omitted.
 * @param applicationIds those to look at
 */
export async function findLocked(
  pool: Pool,
  applicationIds: Iterable<string | null>,
): Promise<ReadonlySet<string>> {
  const asked = [...new Set(applicationIds)].filter((id) => id !== null);
  if (asked.length === 0) return new Set();
  const { rows } = await pool.query<{ id: string }>(selectLocked, [asked]);
  return new Set(rows.map(({ id }) => id));
}

// Locks what can be locked without waiting, for the time of this statement, and returns the rest.
const selectLocked = `
  WITH developer AS MATERIALIZED (
    SELECT id FROM developers WHERE id IN (SELECT developer_id FROM applications WHERE id = ANY($1::uuid[]))
    ORDER BY id FOR KEY SHARE SKIP LOCKED
  ), free AS MATERIALIZED (
    SELECT applications.id FROM applications JOIN developer ON developer.id = applications.developer_id
    WHERE applications.id = ANY($1::uuid[]) ORDER BY applications.id FOR KEY SHARE OF applications SKIP LOCKED
  )
  SELECT id FROM applications WHERE id = ANY($1::uuid[]) AND id NOT IN (SELECT id FROM free)`;
