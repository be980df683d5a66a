import { issueFor } from '../../api/issue-for.ts';
import { useApplications } from '../../shell/session.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { TypesField } from './types-field.tsx';

/** What its developer chooses of a webhook. */
export interface WebhookDraft {
  readonly url: string;
  readonly description: string;
  readonly applicationId: string | null;
  readonly types: readonly string[];
}

/** The members whose fields say what is wrong with them. */
export const webhookMembers = ['url', 'description', 'applicationId', 'types'] as const;

interface WebhookFieldsProps {
  readonly draft: WebhookDraft;
  readonly onChange: (change: Partial<WebhookDraft>) => void;
  readonly error: unknown;
}

export function WebhookFields({ draft, onChange, error }: WebhookFieldsProps) {
  const applications = useApplications();
  const { applicationId } = draft;
  // The application may have been deleted, or be one of many.
  const isListed = applicationId === null || applications.some(({ id }) => id === applicationId);
  return (
    <>
      <TextField
        label="URL"
        hint="https, with a public address."
        type="url"
        required
        maxLength={2048}
        placeholder="https://shop.example.com/latchkey"
        value={draft.url}
        onChange={(url) => onChange({ url })}
        error={issueFor(error, 'url')}
      />
      <TextField
        label="Description (optional)"
        maxLength={200}
        autoComplete="off"
        value={draft.description}
        onChange={(description) => onChange({ description })}
        error={issueFor(error, 'description')}
      />
      <SelectField
        label="Application"
        hint={applicationId === null ? undefined : 'Events of the account are then not sent.'}
        value={applicationId ?? ''}
        onChange={(value) => onChange({ applicationId: value === '' ? null : value })}
        options={[
          { value: '', label: 'All applications, and the account' },
          ...applications.map(({ id, name }) => ({ value: id, label: `Only ${name}` })),
          ...(isListed ? [] : [{ value: applicationId, label: 'An application that is not listed' }]),
        ]}
        error={issueFor(error, 'applicationId')}
      />
      <TypesField
        value={draft.types}
        onChange={(types) => onChange({ types })}
        error={issueFor(error, 'types')}
      />
    </>
  );
}
