import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { serviceUrl } from '../../api/paths.ts';
import { present } from '../../api/present.ts';
import { useRead } from '../../api/query.ts';
import { readFragment } from '../../generated/fragment-masking.ts';
import { graphql } from '../../generated/gql.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState, PageHeader } from '../../ui/page.tsx';
import { SimpleTable } from '../../ui/simple-table.tsx';
import { Dim } from '../../ui/text.tsx';
import { Ago } from '../../ui/time.tsx';
import { CreateWebhook } from './create-webhook.tsx';
import { typesInWords } from './event-types.ts';
import { WebhookBadge } from './webhook-badge.tsx';
import { WebhookSecret } from './webhook-secret.tsx';
import { WebhooksState } from './webhook-state.ts';
import styles from './webhooks.module.css';

// An account has 20 webhooks unless the operator allows more.
const WebhooksPage = graphql(`
  query WebhooksPage {
    me {
      account {
        webhooks(first: 200) {
          edges {
            node {
              id
              url
              description
              types
              applicationId
              application {
                name
              }
              lastSuccessAt
              ...WebhooksState
            }
          }
        }
      }
    }
  }
`);

const curl = `curl ${serviceUrl.href}api/v1/webhooks \\
  -H "Authorization: Bearer $LATCHKEY_API_KEY" -H 'Content-Type: application/json' \\
  -d '{"url":"https://shop.example.com/latchkey","types":["license.*"]}'`;

type Open = 'create' | { readonly webhookId: string; readonly secret: string } | null;

export function Webhooks() {
  const navigate = useNavigate();
  const { me } = useRead(WebhooksPage, {}, ['webhook', 'application']);
  const rows = present(me).account.webhooks.edges.map(({ node }) => node);
  const [open, setOpen] = useState<Open>(null);
  const create = (
    <Button look="primary" onClick={() => setOpen('create')}>
      Create webhook
    </Button>
  );
  return (
    <>
      <PageHeader title="Webhooks" sub="URLs of yours to which events are sent as they happen">
        {create}
      </PageHeader>
      {rows.length === 0 ? (
        <EmptyState title="No webhooks yet" action={create} curl={curl}>
          Your shop, CRM or chat learns by a webhook what happens to your licenses.
        </EmptyState>
      ) : (
        <SimpleTable
          label="Webhooks"
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            {
              header: 'URL',
              cell: ({ id, url, description }) => (
                <span className={styles.row}>
                  <Link to="/account/webhooks/$webhookId" params={{ webhookId: id }} className={styles.url}>
                    {url}
                  </Link>
                  {description !== '' && <Dim>{description}</Dim>}
                </span>
              ),
            },
            { header: 'Events', cell: ({ types }) => typesInWords(types) },
            {
              header: 'Application',
              cell: ({ application, applicationId }) =>
                application?.name ?? <Dim>{applicationId ? 'deleted' : 'all'}</Dim>,
            },
            {
              header: 'State',
              cell: (webhook) => <WebhookBadge webhook={readFragment(WebhooksState, webhook)} />,
            },
            {
              header: 'Last success',
              cell: ({ lastSuccessAt }) => (lastSuccessAt ? <Ago at={lastSuccessAt} /> : <Dim>never</Dim>),
            },
          ]}
        />
      )}
      {open === 'create' && (
        <CreateWebhook
          onSecret={(webhookId, secret) => setOpen({ webhookId, secret })}
          onClose={() => setOpen(null)}
        />
      )}
      {open !== null && open !== 'create' && (
        <WebhookSecret
          secret={open.secret}
          onClose={() =>
            navigate({
              to: '/account/webhooks/$webhookId',
              params: { webhookId: open.webhookId },
              ignoreBlocker: true,
            })
          }
        />
      )}
    </>
  );
}
