import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../../db/in-transaction.ts';
import { newIds } from '../../lib/ids.ts';
import { isWanted, type WebhookFilter } from './match.ts';

/** How many events one transaction looks at. */
const eventsAtOnce = 500;
/**
 * A webhook with so many deliveries that wait gets no more. Its position stays, so that no event is lost. Those that have
 * failed wait for up to a day, so they hold up new events only when there are many more.
 */
const maxWaiting = { forFirstAttempt: 5_000, inAll: 20_000 } as const;

interface Position extends WebhookFilter {
  readonly developerId: string;
  readonly lastSequence: string;
}

interface FoundEvent {
  readonly id: string;
  readonly type: string;
  readonly applicationId: string | null;
  readonly sequence: string;
}

/**
 * Creates the deliveries of a webhook for the numbered events after its position, in their order, and advances the position
 * in the same transaction. So an event has one delivery, however many instances try; one that finds the webhook locked
 * leaves it to the other.
 * @returns whether there may be more
 */
export const fanOut = (pool: Pool, webhookId: string, now: Date): Promise<boolean> =>
  inTransaction(pool, async (client) => {
    const { rows } = await client.query<Position>(lock, [webhookId]);
    const [position] = rows;
    if (position === undefined || (await isFull(client, webhookId))) return false;
    const events = await client.query<FoundEvent>(readEvents, [position.developerId, position.lastSequence]);
    const last = events.rows.at(-1);
    if (last === undefined) return false;
    const wanted = events.rows.filter((event) => isWanted(position, event));
    if (wanted.length > 0) {
      await client.query(insert, [
        newIds(wanted.length),
        webhookId,
        wanted.map(({ id }) => id),
        wanted.map(({ type }) => type),
        wanted.map(({ sequence }) => sequence),
        now,
      ]);
    }
    await client.query('UPDATE webhooks SET last_sequence = $2 WHERE id = $1', [webhookId, last.sequence]);
    return events.rows.length === eventsAtOnce;
  });

const lock = `
  SELECT developer_id AS "developerId", application_id AS "applicationId", types, last_sequence::text AS "lastSequence"
  FROM webhooks WHERE id = $1 AND disabled_at IS NULL FOR UPDATE SKIP LOCKED`;

const readEvents = `
  SELECT id, type, application_id AS "applicationId", sequence::text AS sequence FROM events
  WHERE developer_id = $1 AND sequence > $2 ORDER BY sequence LIMIT ${eventsAtOnce}`;

// An event may have a delivery already, by a replay.
const insert = `
  INSERT INTO webhook_deliveries (id, webhook_id, event_id, event_type, sequence, next_attempt_at, created_at)
  SELECT event.id, $2, event.event_id, event.type, event.sequence, $6, $6
  FROM unnest($1::uuid[], $3::uuid[], $4::text[], $5::bigint[]) AS event (id, event_id, type, sequence)
  ON CONFLICT (webhook_id, event_id) DO NOTHING`;

async function isFull(client: PoolClient, webhookId: string): Promise<boolean> {
  const { rows } = await client.query(
    `(SELECT FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'pending' AND attempts = 0
      OFFSET ${maxWaiting.forFirstAttempt - 1} LIMIT 1)
     UNION ALL
     (SELECT FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'pending'
      OFFSET ${maxWaiting.inAll - 1} LIMIT 1)`,
    [webhookId],
  );
  return rows.length > 0;
}
