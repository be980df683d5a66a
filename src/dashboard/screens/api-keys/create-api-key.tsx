import { useState } from 'react';
import { issueFor } from '../../api/issue-for.ts';
import { useChange } from '../../api/use-change.ts';
import { graphql } from '../../generated/gql.ts';
import { useApplications } from '../../shell/session.ts';
import { SelectField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { type ApiKeyDraft, ApiKeyFields, ApiKeyName, networksOf, scopesOf } from './api-key-fields.tsx';
import { allScopes } from './scopes.ts';

const ApiKeysCreate = graphql(`
  mutation ApiKeysCreate($input: CreateApiKeyInput!) {
    createApiKey(input: $input) {
      apiKey
      key {
        id
        name
      }
    }
  }
`);

interface CreateApiKeyProps {
  readonly onToken: (name: string, token: string) => void;
  readonly onClose: () => void;
}

export function CreateApiKey({ onToken, onClose }: CreateApiKeyProps) {
  const applications = useApplications();
  const [draft, setDraft] = useState<ApiKeyDraft>({
    name: '',
    grant: { access: 'chosen', scopes: [] },
    networks: '',
    expiresAt: null,
  });
  const [application, setApplication] = useState('');
  const applicationId = application === '' ? null : application;
  const create = useChange(ApiKeysCreate, {
    onDone: ({ createApiKey }) => createApiKey && onToken(createApiKey.key.name, createApiKey.apiKey),
  });
  const change = (part: Partial<ApiKeyDraft>) => setDraft({ ...draft, ...part });
  const submit = () => {
    const scopes = scopesOf(draft.grant, applicationId)?.filter((scope) =>
      allScopes(applicationId).includes(scope),
    );
    create.mutate({
      input: {
        name: draft.name,
        allowedCidrs: networksOf(draft.networks),
        ...(scopes && { scopes }),
        ...(applicationId !== null && { applicationId }),
        ...(draft.expiresAt !== null && { expiresAt: draft.expiresAt }),
      },
    });
  };
  return (
    <FormDialog
      title="Create API key"
      action="Create key"
      busy={create.isPending}
      error={create.error}
      marked={['name', 'applicationId', 'scopes', 'allowedCidrs', 'expiresAt']}
      onSubmit={submit}
      onClose={onClose}
    >
      <ApiKeyName draft={draft} onChange={change} error={create.error} />
      <SelectField
        label="Application"
        hint={
          applicationId === null
            ? 'This cannot be changed later.'
            : 'It opens nothing of the account. This cannot be changed later.'
        }
        value={application}
        onChange={setApplication}
        options={[
          { value: '', label: 'All applications, and the account' },
          ...applications.map(({ id, name }) => ({ value: id, label: `Only ${name}` })),
        ]}
        error={issueFor(create.error, 'applicationId')}
      />
      <ApiKeyFields
        draft={draft}
        onChange={change}
        applicationId={applicationId}
        isNew
        error={create.error}
      />
    </FormDialog>
  );
}
