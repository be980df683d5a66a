import { ApiError } from '../../api/api-error.ts';
import { issueFor } from '../../api/issue-for.ts';
import { TextAreaField, TextField } from '../../ui/field.tsx';
import { MomentField } from '../../ui/moment-field.tsx';
import { type Grant, ScopeField } from './scope-field.tsx';
import { readScopes } from './scopes.ts';

/** What the forms of a key have in common. */
export interface ApiKeyDraft {
  readonly name: string;
  readonly grant: Grant;
  readonly networks: string;
  readonly expiresAt: string | null;
}

export const networksOf = (text: string): string[] => text.split(/[\s,]+/).filter((part) => part !== '');

/** The scopes to send; undefined for everything, which a new key has by itself. */
export function scopesOf({ access, scopes }: Grant, applicationId: string | null): string[] | undefined {
  if (access === 'everything') return undefined;
  return access === 'read' ? [...readScopes(applicationId)] : [...scopes];
}

/** What is wrong with the networks, with the one that it is about. */
function networkIssue(error: unknown, networks: readonly string[]): string | null {
  if (!(error instanceof ApiError)) return null;
  const issue = error.issues.find(({ path }) => path[0] === 'allowedCidrs');
  if (issue === undefined) return null;
  const network = networks[Number(issue.path[1])];
  return network === undefined ? issue.message : `${network}: ${issue.message}`;
}

interface ApiKeyFieldsProps {
  readonly draft: ApiKeyDraft;
  readonly onChange: (change: Partial<ApiKeyDraft>) => void;
  readonly applicationId: string | null;
  readonly isNew: boolean;
  readonly error: unknown;
}

export function ApiKeyFields({ draft, onChange, applicationId, isNew, error }: ApiKeyFieldsProps) {
  return (
    <>
      <ScopeField
        value={draft.grant}
        onChange={(grant) => onChange({ grant })}
        applicationId={applicationId}
        isNew={isNew}
        error={issueFor(error, 'scopes')}
      />
      <TextAreaField
        label="Networks (optional)"
        hint="One a line, such as 192.0.2.0/24 or an address. Empty: the key works from anywhere."
        mono
        rows={2}
        value={draft.networks}
        onChange={(networks) => onChange({ networks })}
        error={networkIssue(error, networksOf(draft.networks))}
      />
      <MomentField
        label="Expires (optional)"
        hint="In your time zone. Empty: it never expires."
        value={draft.expiresAt}
        onChange={(expiresAt) => onChange({ expiresAt })}
        error={issueFor(error, 'expiresAt')}
      />
    </>
  );
}

interface NameFieldProps {
  readonly draft: ApiKeyDraft;
  readonly onChange: (change: Partial<ApiKeyDraft>) => void;
  readonly error: unknown;
}

export const ApiKeyName = ({ draft, onChange, error }: NameFieldProps) => (
  <TextField
    label="Name"
    hint="The program that uses it, such as Shop. The log names the key by it."
    required
    maxLength={100}
    autoComplete="off"
    value={draft.name}
    onChange={(name) => onChange({ name })}
    error={issueFor(error, 'name')}
  />
);
