import type { Pool } from 'pg';
import { queryWithoutTimeout } from '../../db/in-transaction.ts';
import type { SlotOwner } from './slots.ts';

/** A webhook for which something is to be done. */
export interface WebhookWork extends SlotOwner {
  readonly developerId: string;
  /** Whether there are events after its position. */
  readonly hasEvents: boolean;
  /** Whether there are deliveries whose time has come. */
  readonly hasDue: boolean;
}

/** How many webhooks one look returns; the next look follows at once. */
export const workAtOnce = 500;

// Two probes of an index for each enabled webhook; a table without webhooks costs nothing.
const find = `
  SELECT * FROM (
    SELECT id AS "webhookId", developer_id AS "developerId",
      failing_since IS NULL AND last_success_at IS NOT NULL AS "isProven",
      EXISTS (SELECT FROM events
        WHERE events.developer_id = webhooks.developer_id AND (sequence > last_sequence OR sequence IS NULL)) AS "hasEvents",
      EXISTS (SELECT FROM webhook_deliveries
        WHERE webhook_id = webhooks.id AND status = 'pending' AND next_attempt_at <= $1
          AND (claimed_until < clock_timestamp()) IS NOT FALSE) AS "hasDue"
    FROM webhooks
    WHERE disabled_at IS NULL AND ($2::uuid[] IS NULL OR developer_id = ANY($2))
  ) AS work
  WHERE "hasEvents" OR "hasDue"
  ORDER BY random() LIMIT ${workAtOnce}`;

/**
 * Finds webhooks with new events or due deliveries, in random order.
 * @param developerIds `all`, or those whose webhooks are looked at
 */
export async function findWork(
  pool: Pool,
  now: Date,
  developerIds: readonly string[] | 'all',
): Promise<readonly WebhookWork[]> {
  const { rows } = await queryWithoutTimeout<WebhookWork>(pool, find, [
    now,
    developerIds === 'all' ? null : developerIds,
  ]);
  return rows;
}
