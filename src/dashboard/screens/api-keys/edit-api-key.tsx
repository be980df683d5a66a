import { useState } from 'react';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { tell } from '../../ui/toast.ts';
import type { ApiKeyRow } from './api-key.ts';
import { type ApiKeyDraft, ApiKeyFields, ApiKeyName, networksOf, scopesOf } from './api-key-fields.tsx';
import { accessOf, allScopes } from './scopes.ts';

const ApiKeysUpdate = graphql(`
  mutation ApiKeysUpdate($input: UpdateApiKeyInput!) {
    updateApiKey(input: $input) {
      key {
        id
      }
    }
  }
`);

interface EditApiKeyProps {
  readonly row: ApiKeyRow;
  readonly onClose: () => void;
}

/** Changes hold from the key's next request on. */
export function EditApiKey({ row, onClose }: EditApiKeyProps) {
  const applicationId = row.applicationId ?? null;
  const [draft, setDraft] = useState<ApiKeyDraft>({
    name: row.name,
    grant: { access: accessOf(row.scopes, applicationId), scopes: row.scopes },
    networks: row.allowedCidrs.join('\n'),
    expiresAt: row.expiresAt ?? null,
  });
  const update = useChange(ApiKeysUpdate, {
    onDone: () => {
      tell('The key was changed.');
      onClose();
    },
  });
  const change = (part: Partial<ApiKeyDraft>) => setDraft({ ...draft, ...part });
  const submit = () => {
    const scopes = scopesOf(draft.grant, applicationId) ?? [...allScopes(applicationId)];
    // A key that may do everything gets what later versions add only as long as its scopes were never set.
    const isSame = scopes.length === row.scopes.length && scopes.every((scope) => row.scopes.includes(scope));
    update.mutate({
      input: {
        id: row.id,
        name: draft.name,
        allowedCidrs: networksOf(draft.networks),
        ...(!isSame && { scopes }),
        ...(draft.expiresAt !== (row.expiresAt ?? null) && { expiresAt: draft.expiresAt }),
      },
    });
  };
  return (
    <FormDialog
      title={`Edit ${row.name}`}
      action="Save"
      busy={update.isPending}
      error={update.error}
      marked={['name', 'applicationId', 'scopes', 'allowedCidrs', 'expiresAt']}
      onSubmit={submit}
      onClose={onClose}
    >
      <ApiKeyName draft={draft} onChange={change} error={update.error} />
      <ApiKeyFields
        draft={draft}
        onChange={change}
        applicationId={applicationId}
        isNew={false}
        error={update.error}
      />
    </FormDialog>
  );
}
