import { serviceUrl } from '../../api/paths.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/page.tsx';

interface NoLicensesProps {
  readonly applicationId: string;
  readonly isFiltered: boolean;
}

/** Shown in the place of a list that has nothing. */
export const NoLicenses = ({ applicationId, isFiltered }: NoLicensesProps) =>
  isFiltered ? (
    <EmptyState
      title="No license matches"
      action={
        <ButtonLink to="/applications/$applicationId/licenses" params={{ applicationId }} search={{}}>
          Show all licenses
        </ButtonLink>
      }
      curl={`curl '${serviceUrl}api/v1/apps/${applicationId}/licenses?status=active' \\
  -H "Authorization: Bearer $LATCHKEY_API_KEY"`}
    >
      Remove a filter, or search for less.
    </EmptyState>
  ) : (
    <EmptyState
      title="No licenses yet"
      action={
        <ButtonLink to="/applications/$applicationId/mint" params={{ applicationId }} look="primary">
          Mint keys
        </ButtonLink>
      }
      curl={`curl ${serviceUrl}api/v1/licenses/create \\
  -H "Authorization: Bearer $LATCHKEY_API_KEY" -H 'Content-Type: application/json' \\
  -d '{"applicationId":"${applicationId}","amount":5,"durationSeconds":2592000}'`}
    >
      Each customer gets a license key. Mint some, and send one with each sale.
    </EmptyState>
  );
