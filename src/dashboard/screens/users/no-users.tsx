import { serviceUrl } from '../../api/paths.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/page.tsx';

interface NoUsersProps {
  readonly applicationId: string;
  readonly isFiltered: boolean;
  readonly onCreate: () => void;
}

/** Shown in the place of a list that has nothing. */
export function NoUsers({ applicationId, isFiltered, onCreate }: NoUsersProps) {
  const url = `${serviceUrl}api/v1/apps/${applicationId}/users`;
  if (isFiltered) {
    return (
      <EmptyState
        title="No user matches"
        action={
          <ButtonLink to="/applications/$applicationId/users" params={{ applicationId }} search={{}}>
            Show all users
          </ButtonLink>
        }
        curl={`curl '${url}?q=grace' \\
  -H "Authorization: Bearer $LATCHKEY_API_KEY"`}
      >
        Remove a filter, or search for less.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title="No users yet"
      action={
        <Button look="primary" onClick={onCreate}>
          Create user
        </Button>
      }
      curl={`curl ${url} \\
  -H "Authorization: Bearer $LATCHKEY_API_KEY" -H 'Content-Type: application/json' \\
  -d '{"username":"grace","password":"PASSWORD","licenseKey":"LICENSE_KEY"}'`}
    >
      Your customers register in your program, with a name and a password. You can create accounts for them
      too.
    </EmptyState>
  );
}
