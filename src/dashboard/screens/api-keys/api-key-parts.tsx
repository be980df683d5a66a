import { useApplications } from '../../shell/session.ts';
import { Status } from '../../ui/status.tsx';
import { Dim } from '../../ui/text.tsx';
import { Ago, Day, useNow } from '../../ui/time.tsx';
import { type ApiKeyRow, overlapOf, stateOf } from './api-key.ts';

/** The state of a key, and how long a token that was replaced is still good. */
export function ApiKeyState({ row }: { readonly row: ApiKeyRow }) {
  const now = useNow();
  const { tone, label } = stateOf(row, now);
  const overlap = overlapOf(row, now);
  return (
    <>
      <Status tone={tone}>{label}</Status>{' '}
      {overlap !== null && (
        <Dim>
          old one ends <Ago at={overlap} />
        </Dim>
      )}
    </>
  );
}

/** The application that a key opens. */
export function ApiKeyApplication({ row: { applicationId } }: { readonly row: ApiKeyRow }) {
  const applications = useApplications();
  if (!applicationId) return <Dim>all</Dim>;
  return applications.find(({ id }) => id === applicationId)?.name ?? 'One application';
}

/** The networks that a key may be used from: the first, and how many more. */
export function ApiKeyNetworks({ row: { allowedCidrs } }: { readonly row: ApiKeyRow }) {
  const [first, ...others] = allowedCidrs;
  if (first === undefined) return <Dim>any</Dim>;
  return (
    <span title={allowedCidrs.join(', ')}>
      {first}
      {others.length > 0 && ` and ${others.length} more`}
    </span>
  );
}

export const ApiKeyExpiry = ({ row: { expiresAt } }: { readonly row: ApiKeyRow }) =>
  expiresAt ? (
    <>
      <Ago at={expiresAt} />{' '}
      <Dim>
        <Day at={expiresAt} />
      </Dim>
    </>
  ) : (
    <Dim>never</Dim>
  );

export const ApiKeyLastUsed = ({ row: { lastUsedAt } }: { readonly row: ApiKeyRow }) =>
  lastUsedAt ? <Ago at={lastUsedAt} /> : <Dim>never</Dim>;
