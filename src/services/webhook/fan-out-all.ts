import type { Pool } from 'pg';
import { numberSomeEvents } from '../outbox/number-events.ts';
import { fanOut } from './fan-out.ts';
import type { WebhookWork } from './find-work.ts';

/**
 * Creates the deliveries of all webhooks with new events, after giving numbers to events. One with many of them takes one
 * turn, like all others.
 * @returns whether some may have more
 */
export async function fanOutAll(pool: Pool, work: readonly WebhookWork[], now: () => Date): Promise<boolean> {
  const withEvents = work.filter(({ hasEvents }) => hasEvents);
  const developerIds = [...new Set(withEvents.map(({ developerId }) => developerId))];
  let hasMore = (await numberSomeEvents(pool, developerIds)) > 0;
  for (const { webhookId } of withEvents) {
    if (await fanOut(pool, webhookId, now())) hasMore = true;
  }
  return hasMore;
}
