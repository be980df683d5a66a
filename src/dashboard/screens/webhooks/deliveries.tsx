import { useMemo, useState } from 'react';
import { serviceUrl } from '../../api/paths.ts';
import { present } from '../../api/present.ts';
import { queryOf } from '../../api/query.ts';
import { readFragment } from '../../generated/fragment-masking.ts';
import { graphql } from '../../generated/gql.ts';
import type { WebhookDeliveryStatus, WebhooksDeliveriesQuery } from '../../generated/graphql.ts';
import { List } from '../../list/list.tsx';
import { pageOf } from '../../list/page.ts';
import { pageSize, usePages } from '../../list/use-pages.ts';
import { SelectField } from '../../ui/field.tsx';
import { countText } from '../../ui/format.ts';
import { EmptyState } from '../../ui/page.tsx';
import { Dim } from '../../ui/text.tsx';
import { refreshMilliseconds, WebhooksDelivery } from './delivery.ts';
import { DeliveryCard } from './delivery-card.tsx';
import { columnsOf } from './delivery-columns.tsx';
import { DeliveryDialog } from './delivery-dialog.tsx';
import styles from './webhooks.module.css';

const WebhooksDeliveries = graphql(`
  query WebhooksDeliveries($id: ID!, $first: Int!, $after: String, $filter: WebhookDeliveryFilter) {
    webhook(id: $id) {
      id
      deliveries(first: $first, after: $after, filter: $filter) {
        totalCount
        totalCountIsExact
        pageInfo {
          endCursor
          hasNextPage
        }
        edges {
          node {
            id
            ...WebhooksDelivery
          }
        }
      }
    }
  }
`);

const read = ({ webhook }: WebhooksDeliveriesQuery) => {
  const page = pageOf(present(webhook).deliveries);
  return { ...page, rows: page.rows.map((row) => readFragment(WebhooksDelivery, row)) };
};

const testCurl = (webhookId: string): string =>
  `curl -X POST ${serviceUrl.href}api/v1/webhooks/${webhookId}/test \\
  -H "Authorization: Bearer $LATCHKEY_API_KEY"`;

interface DeliveriesProps {
  readonly webhookId: string;
  readonly isEnabled: boolean;
  /** While a test waits for its answer, which is not known to be due. */
  readonly isTesting: boolean;
}

/** What was sent and what waits, newest first. Attempts make no events, so it reads again by itself while it is visible. */
export function Deliveries({ webhookId, isEnabled, isTesting }: DeliveriesProps) {
  const [status, setStatus] = useState<WebhookDeliveryStatus | ''>('');
  const [openId, setOpenId] = useState<string | null>(null);
  const pages = usePages({
    name: JSON.stringify([webhookId, status]),
    query: (after) => {
      const filter = status === '' ? null : { status };
      const options = queryOf(WebhooksDeliveries, { id: webhookId, first: pageSize, after, filter }, [
        'webhook',
      ]);
      return {
        ...options,
        refetchInterval: ({ state: { data } }: { state: { data?: WebhooksDeliveriesQuery } }) =>
          isTesting ? 1_000 : data !== undefined && refreshMilliseconds(read(data).rows, Date.now()),
      };
    },
    read,
  });
  const columns = useMemo(() => columnsOf(({ id }) => setOpenId(id)), []);
  const open = pages.loaded.rows.find(({ id }) => id === openId);
  return (
    <section className={styles.deliveries}>
      <div className={styles.bar}>
        <h2>Deliveries {pages.total && <Dim>{countText(pages.total.count, pages.total.isExact)}</Dim>}</h2>
        <div className={styles.filter}>
          <SelectField
            label="Status"
            value={status}
            onChange={setStatus}
            options={[
              { value: '', label: 'All' },
              { value: 'pending', label: 'Pending' },
              { value: 'succeeded', label: 'Succeeded' },
              { value: 'failed', label: 'Failed' },
            ]}
          />
        </div>
      </div>
      <List
        label="Deliveries"
        pages={pages}
        columns={columns}
        card={(row) => <DeliveryCard row={row} onOpen={({ id }) => setOpenId(id)} />}
        empty={
          <EmptyState
            title={status === '' ? 'Nothing was sent yet' : 'No such deliveries'}
            curl={status === '' ? testCurl(webhookId) : undefined}
          >
            {status === ''
              ? 'Events appear here as they are sent. Send a test to see whether your receiver answers.'
              : 'Choose another status. Deliveries are kept for 30 days.'}
          </EmptyState>
        }
      />
      {open && (
        <DeliveryDialog
          webhookId={webhookId}
          isEnabled={isEnabled}
          row={open}
          onClose={() => setOpenId(null)}
        />
      )}
    </section>
  );
}
