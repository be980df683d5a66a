import { useChange } from '../../api/use-change.ts';
import { readFragment } from '../../generated/fragment-masking.ts';
import { graphql } from '../../generated/gql.ts';
import { tell, tellError } from '../../ui/toast.ts';
import { outcomeOf, WebhooksDelivery } from './delivery.ts';

const WebhooksTest = graphql(`
  mutation WebhooksTest($input: TestWebhookInput!) {
    testWebhook(input: $input) {
      delivery {
        ...WebhooksDelivery
      }
    }
  }
`);

/** Sends a test, which takes up to 15 seconds, and says what the receiver answered. */
export function useTest(webhookId: string): { readonly send: () => void; readonly isPending: boolean } {
  const test = useChange(WebhooksTest);
  const send = () =>
    test.mutate(
      { input: { id: webhookId } },
      {
        onError: tellError,
        onSuccess: ({ testWebhook }) => {
          if (!testWebhook) return;
          const row = readFragment(WebhooksDelivery, testWebhook.delivery);
          tell(
            row.status === 'succeeded'
              ? `The receiver answered ${outcomeOf(row)}.`
              : `The test failed: ${outcomeOf(row)}.`,
          );
        },
      },
    );
  return { send, isPending: test.isPending };
}
