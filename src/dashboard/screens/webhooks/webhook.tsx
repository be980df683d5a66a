import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { present } from '../../api/present.ts';
import { queryOf } from '../../api/query.ts';
import { readFragment } from '../../generated/fragment-masking.ts';
import { graphql } from '../../generated/gql.ts';
import { Trail } from '../../ui/breadcrumb.tsx';
import { Columns, PageHeader } from '../../ui/page.tsx';
import { DeleteWebhook } from './delete-webhook.tsx';
import { Deliveries } from './deliveries.tsx';
import { EditWebhook } from './edit-webhook.tsx';
import { ReplayWebhook } from './replay-webhook.tsx';
import { RotateSecret } from './rotate-secret.tsx';
import { useTest } from './use-test.ts';
import { type WebhookAct, WebhookActions } from './webhook-actions.tsx';
import { WebhookBadge } from './webhook-badge.tsx';
import { WebhookFacts } from './webhook-facts.tsx';
import { WebhookSecret } from './webhook-secret.tsx';
import { WebhooksState } from './webhook-state.ts';
import styles from './webhooks.module.css';

const WebhooksOne = graphql(`
  query WebhooksOne($id: ID!) {
    webhook(id: $id) {
      id
      url
      description
      types
      applicationId
      ...WebhooksState
      ...WebhooksFacts
    }
  }
`);

/** That attempts fail makes no event until the service disables the webhook. */
const refreshMilliseconds = 10_000;

export function Webhook() {
  const { webhookId } = useParams({ from: '/shell/account/webhooks/$webhookId' });
  const { data } = useSuspenseQuery({
    ...queryOf(WebhooksOne, { id: webhookId }, ['webhook', 'application']),
    refetchInterval: refreshMilliseconds,
  });
  const webhook = present(data.webhook);
  const state = readFragment(WebhooksState, webhook);
  const [act, setAct] = useState<WebhookAct | { readonly secret: string } | null>(null);
  const test = useTest(webhookId);
  const close = () => setAct(null);
  const { url, description, types } = webhook;
  const applicationId = webhook.applicationId ?? null;
  return (
    <>
      <Trail>
        <Link to="/account/webhooks">Webhooks</Link>
      </Trail>
      <PageHeader
        title={description === '' ? new URL(url).host : description}
        badge={<WebhookBadge webhook={state} />}
        sub={<span className={styles.url}>{url}</span>}
      >
        <WebhookActions
          webhookId={webhookId}
          isEnabled={state.enabled}
          isTesting={test.isPending}
          onTest={test.send}
          onAct={setAct}
        />
      </PageHeader>
      <Columns>
        <Deliveries webhookId={webhookId} isEnabled={state.enabled} isTesting={test.isPending} />
        <WebhookFacts webhook={webhook} />
      </Columns>
      {act === 'edit' && (
        <EditWebhook
          webhookId={webhookId}
          current={{ url, description, applicationId, types }}
          onClose={close}
        />
      )}
      {act === 'replay' && <ReplayWebhook webhookId={webhookId} onClose={close} />}
      {act === 'rotate' && (
        <RotateSecret webhookId={webhookId} onSecret={(secret) => setAct({ secret })} onClose={close} />
      )}
      {act === 'delete' && <DeleteWebhook webhookId={webhookId} onClose={close} />}
      {act !== null && typeof act === 'object' && (
        <WebhookSecret secret={act.secret} isReplacement onClose={close} />
      )}
    </>
  );
}
