import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts, Problem } from '../../ui/page.tsx';
import { Dim, Mono } from '../../ui/text.tsx';
import { Moment } from '../../ui/time.tsx';
import { tell } from '../../ui/toast.ts';
import type { DeliveryRow } from './delivery.ts';
import { DeliveryBadge, Latency, NextAttempt } from './delivery-parts.tsx';

const WebhooksRedeliver = graphql(`
  mutation WebhooksRedeliver($input: RedeliverWebhookDeliveryInput!) {
    redeliverWebhookDelivery(input: $input) {
      delivery {
        id
      }
    }
  }
`);

interface DeliveryDialogProps {
  readonly webhookId: string;
  /** Nothing is sent again to a webhook that is disabled. */
  readonly isEnabled: boolean;
  readonly row: DeliveryRow;
  readonly onClose: () => void;
}

/** All that is known of a delivery, and a way to make it again. */
export function DeliveryDialog({ webhookId, isEnabled, row, onClose }: DeliveryDialogProps) {
  const redeliver = useChange(WebhooksRedeliver, {
    onDone: () => {
      tell('It is being sent again.');
      onClose();
    },
  });
  const send = () => redeliver.mutate({ input: { webhookId, deliveryId: row.id } });
  return (
    <Dialog
      title={<code>{row.eventType}</code>}
      wide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" disabled={!isEnabled} busy={redeliver.isPending} onClick={send}>
            Send again
          </Button>
        </>
      }
    >
      {redeliver.error && <Problem error={redeliver.error} />}
      {!isEnabled && <p>To send it again, enable the webhook first.</p>}
      <Facts
        facts={[
          ['Status', <DeliveryBadge key="status" row={row} />],
          ['Status code', row.statusCode ?? <Dim>none</Dim>],
          ['Error', row.error],
          ['Took', <Latency key="latency" row={row} />],
          ['Attempts', row.status === 'pending' ? `${row.attempts} of 10` : row.attempts],
          ['Last attempt', row.lastAttemptAt && <Moment at={row.lastAttemptAt} />],
          ['Next attempt', <NextAttempt key="next" row={row} />],
          ['Created', <Moment key="created" at={row.createdAt} />],
          ['Event id', <Mono key="event">{row.eventId}</Mono>],
        ]}
      />
      {row.answer !== null && row.answer !== undefined && row.answer !== '' && (
        <>
          <p>The first 1,024 bytes of the answer:</p>
          <CodeBlock code={row.answer} label="The answer of the receiver" />
        </>
      )}
    </Dialog>
  );
}
