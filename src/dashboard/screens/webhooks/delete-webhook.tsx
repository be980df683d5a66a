import { useNavigate } from '@tanstack/react-router';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';

const WebhooksDelete = graphql(`
  mutation WebhooksDelete($input: DeleteWebhookInput!) {
    deleteWebhook(input: $input) {
      deletedWebhookId
    }
  }
`);

interface DeleteWebhookProps {
  readonly webhookId: string;
  readonly onClose: () => void;
}

export function DeleteWebhook({ webhookId, onClose }: DeleteWebhookProps) {
  const navigate = useNavigate();
  const remove = useChange(WebhooksDelete, {
    onDone: () => {
      tell('The webhook was deleted.');
      void navigate({ to: '/account/webhooks' });
    },
  });
  return (
    <ConfirmDialog
      title="Delete the webhook?"
      action="Delete webhook"
      busy={remove.isPending}
      onConfirm={() => remove.mutate({ input: { id: webhookId } })}
      onClose={onClose}
    >
      {remove.error && <Problem error={remove.error} />}
      <p>
        Its deliveries are deleted with it, also those that wait. This cannot be undone. To pause it, disable
        it instead.
      </p>
    </ConfirmDialog>
  );
}
