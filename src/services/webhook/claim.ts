import type { Pool } from 'pg';
import { queryWithoutTimeout } from '../../db/in-transaction.ts';
import { type EventEnvelope, eventEnvelope } from '../outbox/event.ts';

/** What an attempt needs of a webhook. */
export interface WebhookTarget {
  readonly webhookId: string;
  readonly developerId: string;
  readonly url: string;
  readonly secretsEncrypted: Uint8Array;
  readonly previousSecretUntil: Date | null;
  readonly applicationId: string | null;
}

/** A delivery that this instance attempts, and no other. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly webhook: WebhookTarget;
  /** Which attempt this is, from 1. Nothing is written about it once another one has begun. */
  readonly attempt: number;
  readonly eventType: string;
  /** Null if the event is no longer kept. */
  readonly event: EventEnvelope | null;
}

/**
 * How long a claim lasts, in seconds, by the database's clock: an attempt, and writing about it. After a crash, the
 * delivery is attempted again when it ends.
 */
const claimSeconds = 60;
/** SQL of the end of a claim that begins now. */
export const claimEnd = `clock_timestamp() + interval '${claimSeconds} seconds'`;

/** The type of the event that a test sends. It is not in the stream of events: the delivery has all of it. */
export const testEventType = 'webhook.test';

/**
 * Claims a due delivery of each webhook that has one and none in progress: that of its earliest event. Receivers get events in
 * the order of the stream this way, from however many instances.
 */
export async function claimDue(
  pool: Pool,
  webhookIds: readonly string[],
  now: Date,
): Promise<readonly ClaimedDelivery[]> {
  if (webhookIds.length === 0) return [];
  const { rows } = await queryWithoutTimeout<ClaimedRow>(pool, claim, [webhookIds, now]);
  return rows.map(toClaimed);
}

/**
 * Reads a delivery that was created with a claim.
 * @returns null if it was deleted since
 */
export async function readClaimed(pool: Pool, deliveryId: string): Promise<ClaimedDelivery | null> {
  const { rows } = await pool.query<ClaimedRow>(read, [deliveryId]);
  const [row] = rows;
  return row === undefined ? null : toClaimed(row);
}

/** A claimed delivery with its webhook and its event. */
const selected = `
  SELECT claimed.id AS "deliveryId", claimed.attempts AS attempt, claimed.event_id AS "eventId",
    claimed.event_type AS "eventType", claimed.created_at AS "deliveryCreatedAt",
    webhooks.id AS "webhookId", webhooks.developer_id AS "developerId", webhooks.url,
    webhooks.application_id AS "webhookApplicationId", webhooks.secrets_encrypted AS "secretsEncrypted",
    webhooks.previous_secret_until AS "previousSecretUntil",
    events.id, events.type, events.created_at AS "createdAt", events.sequence::float8 AS sequence,
    events.application_id AS "applicationId", events.subject_kind AS "subjectKind", events.subject_id AS "subjectId",
    events.data
  FROM claimed JOIN webhooks ON webhooks.id = claimed.webhook_id
    LEFT JOIN events ON events.id = claimed.event_id AND events.developer_id = webhooks.developer_id
  ORDER BY claimed.id`;

// Instances that claim at once take different webhooks: waiting for each other's, in any order, they would deadlock. One that
// comes just after another may have looked before it, and finds the same delivery. This no longer fits then, so it gets none:
// the next event would be sent too early. A first attempt is due at once, because the instance that created the delivery may
// have a clock that is fast.
const isDue = "status = 'pending' AND (attempts = 0 OR next_attempt_at <= $2)";
const claim = `
  WITH wanted AS MATERIALIZED (
    SELECT id FROM webhooks WHERE id = ANY($1::uuid[]) AND disabled_at IS NULL FOR NO KEY UPDATE SKIP LOCKED
  ), due AS MATERIALIZED (
    SELECT delivery.id
    FROM wanted CROSS JOIN LATERAL (
      SELECT id FROM webhook_deliveries WHERE webhook_id = wanted.id AND ${isDue} ORDER BY sequence, id LIMIT 1
    ) AS delivery
    WHERE NOT EXISTS (SELECT FROM webhook_deliveries
      WHERE webhook_id = wanted.id AND claimed_until >= clock_timestamp())
  ), claimed AS (
    UPDATE webhook_deliveries SET attempts = attempts + 1, last_attempt_at = $2, claimed_until = ${claimEnd}
    FROM due WHERE webhook_deliveries.id = due.id AND ${isDue} AND (claimed_until < clock_timestamp()) IS NOT FALSE
    RETURNING webhook_deliveries.*
  ) ${selected}`;

const read = `WITH claimed AS (SELECT * FROM webhook_deliveries WHERE id = $1) ${selected}`;

interface Claimed extends Omit<WebhookTarget, 'applicationId'> {
  readonly deliveryId: string;
  readonly attempt: number;
  readonly eventId: string;
  readonly eventType: string;
  readonly deliveryCreatedAt: Date;
  readonly webhookApplicationId: string | null;
}
type ClaimedRow = Claimed & (Parameters<typeof eventEnvelope>[0] | { readonly id: null });

function toClaimed(row: ClaimedRow): ClaimedDelivery {
  const { deliveryId, attempt, eventType, webhookId, developerId, url } = row;
  const { secretsEncrypted, previousSecretUntil, webhookApplicationId: applicationId } = row;
  const webhook = {
    webhookId,
    developerId,
    url,
    secretsEncrypted,
    previousSecretUntil,
    applicationId,
  };
  return { id: deliveryId, webhook, attempt, eventType, event: eventOf(row) };
}

function eventOf(row: ClaimedRow): EventEnvelope | null {
  if (row.eventType === testEventType) {
    return eventEnvelope({
      id: row.eventId,
      type: testEventType,
      createdAt: row.deliveryCreatedAt,
      sequence: 0,
      applicationId: row.webhookApplicationId,
      subjectKind: 'webhook',
      subjectId: row.webhookId,
      data: {},
    });
  }
  return row.id === null ? null : eventEnvelope(row);
}
