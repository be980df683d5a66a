import type { Pool } from 'pg';
import { isLockTimeout } from '../../db/errors.ts';
import { inTransaction } from '../../db/in-transaction.ts';

/**
 * Finds applications that another transaction has locked, as a deletion does, or whose developer it has locked. An application
 * that has been deleted is not among them.
 * @param applicationIds those to look at
 */
export async function findLocked(
  pool: Pool,
  applicationIds: Iterable<string | null>,
): Promise<ReadonlySet<string>> {
  const asked = [...new Set(applicationIds)].filter((id) => id !== null);
  if (asked.length === 0) return new Set();
  const together = await ask(pool, asked);
  if (together !== null) return new Set(together);
  const found = new Set<string>();
  for (const id of asked) if ((await ask(pool, [id]))?.length !== 0) found.add(id);
  return found;
}

/**
 * @returns the ids of those that are locked. Null if PostgreSQL waits all the same: SKIP LOCKED does not skip a row that a
 *   transaction has changed and then locked
 */
async function ask(pool: Pool, applicationIds: readonly string[]): Promise<readonly string[] | null> {
  try {
    return await inTransaction(
      pool,
      async (client) => {
        const { rows } = await client.query<{ id: string }>(selectLocked, [applicationIds]);
        return rows.map(({ id }) => id);
      },
      `BEGIN; SET LOCAL lock_timeout = '100ms'`,
    );
  } catch (error) {
    if (isLockTimeout(error)) return null;
    throw error;
  }
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
