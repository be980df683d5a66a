import type pg from 'pg';

/**
 * Locks the streams of developers, for whoever numbers or purges their events. The accounts first, as their deletion does;
 * in order of the ids, so that two transactions do not deadlock. Changes do not wait for it.
 */
export async function lockStreams(client: pg.ClientBase, developerIds: readonly string[]): Promise<void> {
  for (const statement of statements) await client.query(statement, [developerIds]);
}

const statements = [
  'SELECT FROM developers WHERE id = ANY($1::uuid[]) ORDER BY id FOR KEY SHARE',
  `INSERT INTO event_streams (developer_id) SELECT id FROM developers WHERE id = ANY($1::uuid[]) ORDER BY id
   ON CONFLICT DO NOTHING`,
  'SELECT FROM event_streams WHERE developer_id = ANY($1::uuid[]) ORDER BY developer_id FOR UPDATE',
];
