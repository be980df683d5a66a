import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/page.tsx';

const WebhooksRotateSecret = graphql(`
  mutation WebhooksRotateSecret($input: RotateWebhookSecretInput!) {
    rotateWebhookSecret(input: $input) {
      secret
    }
  }
`);

interface RotateSecretProps {
  readonly webhookId: string;
  readonly onSecret: (secret: string) => void;
  readonly onClose: () => void;
}

export function RotateSecret({ webhookId, onSecret, onClose }: RotateSecretProps) {
  const rotate = useChange(WebhooksRotateSecret, {
    onDone: ({ rotateWebhookSecret }) => rotateWebhookSecret && onSecret(rotateWebhookSecret.secret),
  });
  return (
    <ConfirmDialog
      title="Replace the signing secret?"
      action="Replace secret"
      look="primary"
      busy={rotate.isPending}
      onConfirm={() => rotate.mutate({ input: { id: webhookId } })}
      onClose={onClose}
    >
      {rotate.error && <Problem error={rotate.error} />}
      <p>
        The new secret is shown once. For 24 hours, messages have signatures with both, so that you can change
        it in your receiver. A secret from an earlier replacement ends now.
      </p>
    </ConfirmDialog>
  );
}
