import { serviceUrl } from '../../api/paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/page.tsx';

interface NoBansProps {
  readonly applicationId: string;
  readonly isFiltered: boolean;
}

/** Shown in the place of a list that has nothing. */
export const NoBans = ({ applicationId, isFiltered }: NoBansProps) =>
  isFiltered ? (
    <EmptyState
      title="No ban matches"
      action={
        <ButtonLink to="/applications/$applicationId/bans" params={{ applicationId }} search={{}}>
          Show all bans
        </ButtonLink>
      }
      curl={`curl '${serviceUrl}api/v1/apps/${applicationId}/bans?q=203.0.113' \\
  -H "Authorization: Bearer $LATCHKEY_API_KEY"`}
    >
      Remove a filter, or search for less.
    </EmptyState>
  ) : (
    <EmptyState
      title="Nothing is banned"
      action={
        <ButtonLink to="/applications/$applicationId/licenses" params={{ applicationId }}>
          Show licenses
        </ButtonLink>
      }
      curl={`curl ${serviceUrl}api/v1/licenses/LICENSE_ID/ban \\
  -H "Authorization: Bearer $LATCHKEY_API_KEY" -H 'Content-Type: application/json' \\
  -d '{"scope":"hwid_and_ip"}'`}
    >
      Ban a license together with its devices or an address, and they are listed here.
    </EmptyState>
  );
