import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/page.tsx';
import { tell } from '../../ui/toast.ts';
import type { ApiKeyRow } from './api-key.ts';

const ApiKeysRevoke = graphql(`
  mutation ApiKeysRevoke($input: RevokeApiKeyInput!) {
    revokeApiKey(input: $input) {
      key {
        id
      }
    }
  }
`);

interface RevokeApiKeyProps {
  readonly row: ApiKeyRow;
  readonly onClose: () => void;
}

export function RevokeApiKey({ row, onClose }: RevokeApiKeyProps) {
  const revoke = useChange(ApiKeysRevoke, {
    onDone: () => {
      tell(`${row.name} was revoked.`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Revoke ${row.name}?`}
      action="Revoke key"
      busy={revoke.isPending}
      onConfirm={() => revoke.mutate({ input: { id: row.id } })}
      onClose={onClose}
    >
      {revoke.error && <Problem error={revoke.error} />}
      <p>
        Programs that use it are refused from now on, also with a token that was replaced. This cannot be
        undone. To give them a new token first, replace the token instead.
      </p>
    </ConfirmDialog>
  );
}
