import { useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { everyType } from './event-types.ts';
import { type WebhookDraft, WebhookFields, webhookMembers } from './webhook-fields.tsx';

const WebhooksCreate = graphql(`
  mutation WebhooksCreate($input: CreateWebhookInput!) {
    createWebhook(input: $input) {
      secret
      webhook {
        id
      }
    }
  }
`);

interface CreateWebhookProps {
  readonly onSecret: (webhookId: string, secret: string) => void;
  readonly onClose: () => void;
}

export function CreateWebhook({ onSecret, onClose }: CreateWebhookProps) {
  const [draft, setDraft] = useState<WebhookDraft>({
    url: '',
    description: '',
    applicationId: null,
    types: [everyType],
  });
  const create = useChange(WebhooksCreate, {
    onDone: ({ createWebhook }) => createWebhook && onSecret(createWebhook.webhook.id, createWebhook.secret),
  });
  const submit = () => {
    const { url, description, applicationId, types } = draft;
    create.mutate({
      input: { url, description, types: [...types], ...(applicationId !== null && { applicationId }) },
    });
  };
  return (
    <FormDialog
      title="Create webhook"
      action="Create webhook"
      busy={create.isPending}
      error={create.error}
      marked={webhookMembers}
      onSubmit={submit}
      onClose={onClose}
    >
      <WebhookFields
        draft={draft}
        onChange={(part) => setDraft({ ...draft, ...part })}
        error={create.error}
      />
    </FormDialog>
  );
}
