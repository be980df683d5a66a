import { useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { tell } from '../../ui/toast.ts';
import { type WebhookDraft, WebhookFields, webhookMembers } from './webhook-fields.tsx';

export const WebhooksUpdate = graphql(`
  mutation WebhooksUpdate($input: UpdateWebhookInput!) {
    updateWebhook(input: $input) {
      webhook {
        id
        enabled
      }
    }
  }
`);

interface EditWebhookProps {
  readonly webhookId: string;
  readonly current: WebhookDraft;
  readonly onClose: () => void;
}

export function EditWebhook({ webhookId, current, onClose }: EditWebhookProps) {
  const [draft, setDraft] = useState(current);
  const update = useChange(WebhooksUpdate, {
    onDone: () => {
      tell('The webhook was changed.');
      onClose();
    },
  });
  const { url, description, applicationId, types } = draft;
  // An application that was deleted meanwhile would be refused, so it is sent only if it is another.
  const changed = applicationId === current.applicationId ? {} : { applicationId };
  return (
    <FormDialog
      title="Edit the webhook"
      action="Save"
      busy={update.isPending}
      error={update.error}
      marked={webhookMembers}
      onSubmit={() =>
        update.mutate({ input: { id: webhookId, url, description, types: [...types], ...changed } })
      }
      onClose={onClose}
    >
      <WebhookFields
        draft={draft}
        onChange={(part) => setDraft({ ...draft, ...part })}
        error={update.error}
      />
    </FormDialog>
  );
}
