import { type FragmentType, readFragment } from '../../generated/fragment-masking.ts';
import { graphql } from '../../generated/gql.ts';
import { Card, Facts, Notice, Stack } from '../../ui/page.tsx';
import { Chip } from '../../ui/text.tsx';
import { Ago, Moment } from '../../ui/time.tsx';
import { reasonOf, WebhooksState } from './webhook-state.ts';
import styles from './webhooks.module.css';

const WebhooksFacts = graphql(`
  fragment WebhooksFacts on Webhook {
    types
    applicationId
    application {
      name
    }
    createdAt
    previousSecretUntil
    ...WebhooksState
  }
`);

/** What is known of a webhook, and why nothing arrives. */
export function WebhookFacts({ webhook }: { readonly webhook: FragmentType<typeof WebhooksFacts> }) {
  const { application, applicationId, types, previousSecretUntil, createdAt, ...rest } = readFragment(
    WebhooksFacts,
    webhook,
  );
  const state = readFragment(WebhooksState, rest);
  const { enabled, failingSince, lastSuccessAt, disabledAt } = state;
  const reason = reasonOf(state);
  const isRotated = previousSecretUntil && new Date(previousSecretUntil).getTime() > Date.now();
  return (
    <div className={styles.side}>
      <Stack>
        {reason !== null && (
          <Notice>
            {reason} Mend the receiver, then enable the webhook: it goes on where it stopped, as far as events
            are still kept.
          </Notice>
        )}
        {enabled && failingSince && (
          <Notice>
            All attempts have failed since <Moment at={failingSince} />. After 72 hours without success, the
            service disables the webhook.
          </Notice>
        )}
        <Card title="Webhook">
          <Facts
            facts={[
              ['Application', application?.name ?? (applicationId ? 'deleted' : 'all')],
              ['Last success', lastSuccessAt ? <Ago key="success" at={lastSuccessAt} /> : 'never'],
              ['Disabled', disabledAt && <Moment key="disabled" at={disabledAt} />],
              ['Old secret until', isRotated ? <Moment key="old" at={previousSecretUntil} /> : null],
              ['Created', <Moment key="created" at={createdAt} />],
              [
                'Events',
                <span key="types" className={styles.chips}>
                  {types.map((type) => (
                    <Chip key={type}>{type === '*' ? 'all' : type}</Chip>
                  ))}
                </span>,
              ],
            ]}
          />
        </Card>
      </Stack>
    </div>
  );
}
