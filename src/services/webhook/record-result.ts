import type { Pool } from 'pg';
import { queryWithoutTimeout } from '../../db/in-transaction.ts';
import { type ClaimedDelivery, testEventType } from './claim.ts';
import { failingLimit, nextAttempt } from './schedule.ts';
import type { WebhookAnswer } from './send.ts';

/** What an attempt has shown about its webhook. */
export interface Outcome {
  readonly isSuccess: boolean;
  /** Why the webhook is to be disabled; null if it is not. */
  readonly disable: 'gone' | 'failing' | null;
}

const isSuccessful = ({ statusCode }: WebhookAnswer): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;

/** Receivers answer so if they want no more messages (RFC 9110 §15.5.11). */
const gone = 410;

/**
 * Stores the result of an attempt, and when the next one is made. A delivery that was deleted, or that another instance has
 * attempted since, stays as it is.
 * @param now in milliseconds since the Unix epoch
 */
export async function recordResult(
  pool: Pool,
  { id, webhook, attempt, eventType, event }: ClaimedDelivery,
  answer: WebhookAnswer,
  now: number,
): Promise<Outcome> {
  const isSuccess = isSuccessful(answer);
  const isTest = eventType === testEventType;
  const isLast = isSuccess || isTest || event === null;
  const isGone = answer.statusCode === gone;
  const retry = nextAttempt({ attempts: attempt, now, retryAfter: answer.retryAfter });
  // After 410 Gone, it waits until its webhook is enabled again, also if this was the last attempt.
  const next = isLast ? null : isGone ? (retry ?? new Date(now)) : retry;
  // A failed test is no beginning of a failure: without another event, nothing would end it.
  const isNoted = event !== null && (isSuccess || !isTest);
  const status = isSuccess ? 'succeeded' : next === null ? 'failed' : 'pending';
  const { rows } = await queryWithoutTimeout<{ isTooLong: boolean | null }>(pool, record, [
    id,
    attempt,
    webhook.webhookId,
    status,
    next,
    answer.latencyMilliseconds,
    answer.statusCode,
    answer.answer,
    answer.error ?? (isSuccess ? null : `The host answered with the status ${answer.statusCode}.`),
    isSuccess,
    new Date(now),
    new Date(now - failingLimit),
    isNoted,
  ]);
  const isTooLong = isNoted && !isSuccess && rows[0]?.isTooLong === true;
  return { isSuccess, disable: isGone ? 'gone' : isTooLong ? 'failing' : null };
}

// The webhook first, as its deletion locks it. Its row is written only if that changes something.
const record = `
  WITH webhook AS MATERIALIZED (
    SELECT id, failing_since, last_success_at FROM webhooks WHERE id = $3 FOR NO KEY UPDATE
  ), delivery AS (
    UPDATE webhook_deliveries SET status = $4::"WebhookDeliveryStatus", next_attempt_at = $5, claimed_until = NULL,
      latency_milliseconds = $6, status_code = $7, answer = $8, error = $9
    FROM webhook WHERE webhook_deliveries.id = $1 AND attempts = $2 AND status = 'pending' AND webhook_id = webhook.id
    RETURNING webhook_deliveries.id
  ), noted AS (
    UPDATE webhooks SET failing_since = CASE WHEN $10 THEN NULL ELSE $11::timestamptz END,
      last_success_at = CASE WHEN $10 THEN $11 ELSE webhooks.last_success_at END
    FROM webhook, delivery WHERE $13 AND webhooks.id = webhook.id AND CASE WHEN $10
      THEN webhook.failing_since IS NOT NULL OR (webhook.last_success_at > $11::timestamptz - interval '1 minute') IS NOT TRUE
      ELSE webhook.failing_since IS NULL END
  )
  SELECT failing_since <= $12::timestamptz AS "isTooLong" FROM webhook`;

/** Gives an attempt back that was broken off, so that it is made again without delay. */
export const giveBack = async (pool: Pool, { id, attempt }: ClaimedDelivery): Promise<void> => {
  await pool.query(
    `UPDATE webhook_deliveries SET attempts = attempts - 1, claimed_until = NULL
     WHERE id = $1 AND attempts = $2 AND status = 'pending'`,
    [id, attempt],
  );
};
