import type pg from 'pg';

/**
 * Locks the streams of developers, for whoever numbers or purges their events. The accounts first, as their deletion does;
 * in order of the ids, so that two transactions do not deadlock. Changes do not wait for it.
 * @param others what to do about streams that another transaction has locked: work for many developers skips them, so that
 *   none holds it up
 * @returns the developers whose streams are locked now
 */
export async function lockStreams(
  client: pg.ClientBase,
  developerIds: readonly string[],
  others: 'wait' | 'skip' = 'wait',
): Promise<readonly string[]> {
  const skip = others === 'skip' ? 'SKIP LOCKED' : '';
  const lock = async (statement: string, ids: readonly string[]): Promise<readonly string[]> =>
    (await client.query<{ id: string }>(`${statement} ${skip}`, [ids])).rows.map(({ id }) => id);
  const accounts = await lock(
    'SELECT id FROM developers WHERE id = ANY($1::uuid[]) ORDER BY id FOR KEY SHARE',
    developerIds,
  );
  await client.query(create, [accounts]);
  return lock(
    'SELECT developer_id AS id FROM event_streams WHERE developer_id = ANY($1::uuid[]) ORDER BY id FOR UPDATE',
    accounts,
  );
}

const create = `
  INSERT INTO event_streams (developer_id) SELECT id FROM developers WHERE id = ANY($1::uuid[]) ORDER BY id
  ON CONFLICT DO NOTHING`;
