import { z } from 'zod';
import type { Prisma } from '../../db/client.ts';
import { newIds } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call, ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { strictObject } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { developerTransaction } from '../transaction.ts';
import { lockEnabledWebhook } from './lock-enabled.ts';
import { requireOwnWebhook } from './require-own.ts';

export const replayWebhookInput = strictObject({
  /** Events from this time on. */
  from: z.date(),
  /** Events before this time. */
  to: z.date(),
});

const range = replayWebhookInput.refine(({ from, to }) => from < to, {
  path: ['to'],
  message: 'must be later than from',
});

/** The most events that one replay sends. */
export const maxReplayed = 10_000;
const rowsAtOnce = 1_000;

interface FoundEvent {
  readonly id: string;
  readonly type: string;
  readonly sequence: bigint;
}

/**
 * Sends the events of a time to a webhook again, and those that its types did not select then. Events that it has not got
 * yet come anyway. The `webhook-id` of each is the same as before.
 * @returns the number of events that are sent
 * @throws {ServiceError} UNAUTHENTICATED, VALIDATION_FAILED, WEBHOOK_NOT_FOUND, INVALID_TRANSITION, TOO_MANY
 */
export async function replayWebhook({
  ctx,
  input: { id, ...given },
}: Call<{ id: string } & z.input<typeof replayWebhookInput>>): Promise<{ readonly enqueued: number }> {
  const developerId = requireDeveloper(ctx.actor, 'webhooks:write', 'events:read');
  const { from, to } = parseInput(range, given);
  const { id: webhookId } = await requireOwnWebhook(ctx, id, 'webhooks:write');
  const events = await findEvents(ctx, developerId, webhookId, { from, to });
  const { idempotency } = ctx;
  let enqueued = 0;
  let isReplay = idempotency !== undefined;
  for (let start = 0, step = 1; start === 0 || start < events.length; start += rowsAtOnce, step += 1) {
    const done = await idempotency?.step<number>(step);
    isReplay &&= done != null;
    enqueued += done ?? (await enqueueSlice(events.slice(start, start + rowsAtOnce), step));
  }
  if (isReplay) idempotency?.noteReplay();
  ctx.env.webhooks.wake(new Set([developerId]));
  return { enqueued };

  function enqueueSlice(slice: readonly FoundEvent[], step: number): Promise<number> {
    const enqueueIt = async (transaction: Prisma.TransactionClient): Promise<number> => {
      await lockEnabledWebhook(transaction, developerId, webhookId);
      return enqueue(transaction, webhookId, slice, new Date(ctx.env.clock.now()));
    };
    return developerTransaction(ctx, developerId, enqueueIt, { step });
  }
}

async function findEvents(
  { env }: ServiceContext,
  developerId: string,
  webhookId: string,
  { from, to }: z.output<typeof replayWebhookInput>,
): Promise<readonly FoundEvent[]> {
  const found = await env.database.prisma.$queryRaw<FoundEvent[]>`
    SELECT events.id, events.type, sequence FROM webhooks JOIN events USING (developer_id)
    WHERE webhooks.id = ${webhookId}::uuid AND developer_id = ${developerId}::uuid
      AND events.created_at >= ${from} AND events.created_at < ${to} AND sequence <= last_sequence
      AND (webhooks.application_id IS NULL OR webhooks.application_id = events.application_id)
      AND types && ARRAY['*', type, split_part(type, '.', 1) || '.*']
    ORDER BY sequence LIMIT ${maxReplayed + 1}`;
  if (found.length <= maxReplayed) return found;
  throw new ServiceError(
    'TOO_MANY',
    `There are more than ${maxReplayed.toLocaleString('en-US')} events in this time. Nothing is sent: replay a shorter one.`,
  );
}

/** Deliveries that are being attempted stay as they are. */
const enqueue = (
  transaction: Prisma.TransactionClient,
  webhookId: string,
  events: readonly FoundEvent[],
  now: Date,
): Promise<number> => transaction.$executeRaw`
  INSERT INTO webhook_deliveries AS delivery (id, webhook_id, event_id, event_type, sequence, next_attempt_at, created_at)
  SELECT event.id, ${webhookId}::uuid, event.event_id, event.type, event.sequence, ${now}, ${now}
  FROM unnest(${newIds(events.length)}::uuid[], ${events.map(({ id }) => id)}::uuid[],
    ${events.map(({ type }) => type)}::text[], ${events.map(({ sequence }) => sequence)}::bigint[]) AS event (id, event_id, type, sequence)
  ON CONFLICT (webhook_id, event_id) DO UPDATE
  SET status = 'pending', attempts = 0, claimed_until = NULL, next_attempt_at = excluded.next_attempt_at
  WHERE (delivery.claimed_until < clock_timestamp()) IS NOT FALSE`;
