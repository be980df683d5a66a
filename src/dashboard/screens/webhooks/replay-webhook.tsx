import { useState } from 'react';
import { issueFor } from '../../api/issue-for.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { numberText } from '../../ui/format.ts';
import { MomentField } from '../../ui/moment-field.tsx';
import { FieldPair } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';

const WebhooksReplay = graphql(`
  mutation WebhooksReplay($input: ReplayWebhookInput!) {
    replayWebhook(input: $input) {
      enqueued
    }
  }
`);

interface ReplayWebhookProps {
  readonly webhookId: string;
  readonly onClose: () => void;
}

const dayMilliseconds = 86_400_000;

export function ReplayWebhook({ webhookId, onClose }: ReplayWebhookProps) {
  const [from, setFrom] = useState<string | null>(() => new Date(Date.now() - dayMilliseconds).toISOString());
  const [to, setTo] = useState<string | null>(() => new Date().toISOString());
  const replay = useChange(WebhooksReplay, {
    onDone: ({ replayWebhook }) => {
      const { enqueued = 0 } = replayWebhook ?? {};
      tell(
        enqueued === 0
          ? 'No event of this time fits the webhook.'
          : `${numberText(enqueued)} ${enqueued === 1 ? 'event is' : 'events are'} being sent again.`,
      );
      onClose();
    },
  });
  const submit = () => {
    if (from !== null && to !== null) replay.mutate({ input: { id: webhookId, from, to } });
  };
  return (
    <FormDialog
      title="Send the events of a time again"
      action="Send again"
      busy={replay.isPending}
      error={replay.error}
      marked={['from', 'to']}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>
        All events of this time that the webhook gets are sent again, at most 10,000, also those that had
        succeeded. Your receiver knows them by their id. New events wait behind them.
      </p>
      <FieldPair>
        <MomentField
          label="From"
          required
          value={from}
          onChange={setFrom}
          error={issueFor(replay.error, 'from')}
        />
        <MomentField
          label="To"
          hint="In your time zone."
          required
          value={to}
          onChange={setTo}
          error={issueFor(replay.error, 'to')}
        />
      </FieldPair>
    </FormDialog>
  );
}
