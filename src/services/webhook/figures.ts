import type { Pool } from 'pg';
import { queryWithoutTimeout } from '../../db/in-transaction.ts';
import type { WebhookFigures } from '../webhook-engine.ts';

const maxCounted = 100_000;

const read = `
  SELECT (SELECT count(*)::int FROM webhooks WHERE disabled_reason <> 'vendor') AS disabled,
    (SELECT count(*)::int FROM (
      SELECT FROM webhooks JOIN webhook_deliveries ON webhook_id = webhooks.id AND status = 'pending'
      WHERE disabled_at IS NULL LIMIT ${maxCounted}
    ) AS pending) AS waiting,
    coalesce((
      SELECT extract(epoch FROM $1::timestamptz - min(earliest.at))::float8 FROM webhooks CROSS JOIN LATERAL (
        SELECT next_attempt_at AS at FROM webhook_deliveries
        WHERE webhook_id = webhooks.id AND status = 'pending' ORDER BY next_attempt_at LIMIT 1
      ) AS earliest
      WHERE disabled_at IS NULL AND earliest.at <= $1 AND NOT EXISTS (SELECT FROM webhook_deliveries
        WHERE webhook_id = webhooks.id AND claimed_until >= clock_timestamp())
    ), 0) AS "oldestDueSeconds"`;

export const noFigures: WebhookFigures = { waiting: 0, oldestDueSeconds: 0, disabled: 0 };

/** Reads the figures of all webhooks. */
export async function readFigures(pool: Pool, now: Date): Promise<WebhookFigures> {
  const { rows } = await queryWithoutTimeout<WebhookFigures>(pool, read, [now]);
  return rows[0] ?? noFigures;
}
