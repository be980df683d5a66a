import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { queryOf } from '../../api/query.ts';
import { List } from '../../list/list.tsx';
import { pageSize, usePages } from '../../list/use-pages.ts';
import { useApplications } from '../../shell/session.ts';
import { Button } from '../../ui/button.tsx';
import { countText } from '../../ui/format.ts';
import { PageHeader } from '../../ui/page.tsx';
import { CreateUserDialog } from './create-user-dialog.tsx';
import { NoUsers } from './no-users.tsx';
import type { UserSearch } from './search.ts';
import { UserCard, userColumns } from './user-columns.tsx';
import { UserFilters } from './user-filters.tsx';
import { filterOf, readUsers, UsersPage } from './users-page.ts';

const from = '/shell/applications/$applicationId/users';

export function Users() {
  const { applicationId } = useParams({ from });
  const search = useSearch({ from });
  const navigate = useNavigate();
  const [isCreating, setIsCreating] = useState(false);
  const application = useApplications().find(({ id }) => id === applicationId);
  const pages = usePages({
    name: JSON.stringify([applicationId, search]),
    query: (after) =>
      queryOf(UsersPage, { applicationId, first: pageSize, after, q: search.q, filter: filterOf(search) }, [
        'user',
      ]),
    read: readUsers,
  });
  const columns = useMemo(() => userColumns(applicationId), [applicationId]);
  const isFiltered = Object.keys(search).length > 0;
  const count =
    pages.total && `${countText(pages.total.count, pages.total.isExact)} ${isFiltered ? 'match' : 'in all'}`;
  const setSearch = (next: UserSearch) =>
    navigate({
      to: '/applications/$applicationId/users',
      params: { applicationId },
      search: next,
      replace: true,
      resetScroll: false,
    });
  return (
    <>
      <PageHeader title="Users" sub={[application?.name, count].filter(Boolean).join(' · ') || ' '}>
        <Button look="primary" onClick={() => setIsCreating(true)}>
          Create user
        </Button>
      </PageHeader>
      <UserFilters search={search} onChange={setSearch} />
      <List
        label="Users"
        pages={pages}
        columns={columns}
        card={(user) => <UserCard applicationId={applicationId} user={user} />}
        empty={
          <NoUsers
            applicationId={applicationId}
            isFiltered={isFiltered}
            onCreate={() => setIsCreating(true)}
          />
        }
      />
      {isCreating && <CreateUserDialog applicationId={applicationId} onClose={() => setIsCreating(false)} />}
    </>
  );
}
