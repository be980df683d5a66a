import { serviceUrl } from '../../api/paths.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/page.tsx';

interface NoEntriesProps {
  readonly applicationId: string;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

export const NoEntries = ({ applicationId, isFiltered, onClear }: NoEntriesProps) =>
  isFiltered ? (
    <EmptyState title="No entry matches" action={<Button onClick={onClear}>Clear the filters</Button>}>
      New entries that match appear here by themselves.
    </EmptyState>
  ) : (
    <EmptyState
      title="Nothing has happened yet"
      action={
        <ButtonLink to="/applications/$applicationId/sdk" params={{ applicationId }} look="primary">
          Connect your program
        </ButtonLink>
      }
      curl={`curl '${serviceUrl}api/v1/apps/${applicationId}/logs?limit=20' \\\n  -H "Authorization: Bearer $LATCHKEY_API_KEY"`}
    >
      Validations, refusals, sign-ins of users and what you change appear here at once.
    </EmptyState>
  );
