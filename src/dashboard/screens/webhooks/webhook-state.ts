import { graphql } from '../../generated/gql.ts';
import type { WebhooksStateFragment } from '../../generated/graphql.ts';
import type { Tone } from '../../ui/status.tsx';

export const WebhooksState = graphql(`
  fragment WebhooksState on Webhook {
    id
    enabled
    disabledAt
    disabledReason
    failingSince
    lastSuccessAt
  }
`);

export type WebhookState = WebhooksStateFragment;

/** Why nothing is sent, in a sentence; null while the webhook is enabled, or if its developer disabled it. */
export function reasonOf({ disabledReason }: WebhookState): string | null {
  if (disabledReason === 'failing') return 'The service disabled it: no attempt succeeded for 72 hours.';
  return disabledReason === 'gone' ? 'The service disabled it: its receiver answered 410 Gone.' : null;
}

export function badgeOf(webhook: WebhookState): { readonly tone: Tone; readonly label: string } {
  if (!webhook.enabled) {
    return reasonOf(webhook) === null
      ? { tone: 'idle', label: 'Disabled' }
      : { tone: 'bad', label: 'Disabled by the service' };
  }
  return webhook.failingSince ? { tone: 'warn', label: 'Failing' } : { tone: 'ok', label: 'Enabled' };
}
