import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { Dim } from '../../ui/text.tsx';
import type { ApiKeyRow } from './api-key.ts';
import type { ApiKeyAct } from './api-key-menu.tsx';
import { CreateApiKey } from './create-api-key.tsx';
import { EditApiKey } from './edit-api-key.tsx';
import { RevokeApiKey } from './revoke-api-key.tsx';
import { RotateApiKey } from './rotate-api-key.tsx';

export type OpenDialog =
  | { readonly kind: 'create' }
  | { readonly kind: ApiKeyAct; readonly row: ApiKeyRow }
  | { readonly kind: 'token'; readonly name: string; readonly token: string };

interface ApiKeyDialogsProps {
  readonly dialog: OpenDialog;
  readonly onOpen: (dialog: OpenDialog) => void;
  readonly onClose: () => void;
}

/** The dialog that is open; one that made a token is followed by the one that shows it. */
export function ApiKeyDialogs({ dialog, onOpen, onClose }: ApiKeyDialogsProps) {
  const onToken = (name: string, token: string) => onOpen({ kind: 'token', name, token });
  switch (dialog.kind) {
    case 'create':
      return <CreateApiKey onToken={onToken} onClose={onClose} />;
    case 'edit':
      return <EditApiKey row={dialog.row} onClose={onClose} />;
    case 'rotate':
      return <RotateApiKey row={dialog.row} onToken={onToken} onClose={onClose} />;
    case 'revoke':
      return <RevokeApiKey row={dialog.row} onClose={onClose} />;
    case 'token':
      return (
        <SecretDialog
          title={`The token of ${dialog.name}`}
          kind="token"
          secret={dialog.token}
          onClose={onClose}
        >
          <Dim>
            Your program sends it with each request, in the header <code>Authorization: Bearer …</code>
          </Dim>
        </SecretDialog>
      );
  }
}
