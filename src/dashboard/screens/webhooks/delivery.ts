import { graphql } from '../../generated/gql.ts';
import type { WebhooksDeliveryFragment } from '../../generated/graphql.ts';
import type { Tone } from '../../ui/status.tsx';

export const WebhooksDelivery = graphql(`
  fragment WebhooksDelivery on WebhookDelivery {
    id
    eventId
    eventType
    status
    attempts
    statusCode
    latencyMilliseconds
    error
    answer
    createdAt
    lastAttemptAt
    nextAttemptAt
  }
`);

export type DeliveryRow = WebhooksDeliveryFragment;

export const deliveryStates = {
  pending: { tone: 'warn', label: 'Pending' },
  succeeded: { tone: 'ok', label: 'Succeeded' },
  failed: { tone: 'bad', label: 'Failed' },
} as const satisfies Record<DeliveryRow['status'], { tone: Tone; label: string }>;

/** What the receiver did, in a few words: its status code, or why there is none. */
export const outcomeOf = ({ statusCode, error, attempts }: DeliveryRow): string =>
  statusCode ? String(statusCode) : (error ?? (attempts === 0 ? 'not sent yet' : 'no answer yet'));

const soonMilliseconds = 1_000;
const idleMilliseconds = 10_000;

/** How long to wait before reading deliveries again: short while one is attempted, or is about to be. */
export function refreshMilliseconds(deliveries: readonly DeliveryRow[], now: number): number {
  const isDue = deliveries.some(
    ({ status, nextAttemptAt }) =>
      status === 'pending' && (!nextAttemptAt || new Date(nextAttemptAt).getTime() - now < idleMilliseconds),
  );
  return isDue ? soonMilliseconds : idleMilliseconds;
}
