import { Link } from '@tanstack/react-router';
import { present } from '../../api/present.ts';
import { queryOf } from '../../api/query.ts';
import { graphql } from '../../generated/gql.ts';
import type { ApplicationsPageQuery } from '../../generated/graphql.ts';
import type { Column } from '../../list/columns.ts';
import { List } from '../../list/list.tsx';
import { pageOf } from '../../list/page.ts';
import { pageSize, usePages } from '../../list/use-pages.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { countText } from '../../ui/format.ts';
import { EmptyState, PageHeader } from '../../ui/page.tsx';
import { Dim, Mono } from '../../ui/text.tsx';
import { Day } from '../../ui/time.tsx';
import { ApplicationStatusBadge } from './application-status.tsx';
import { createApplicationCurl } from './curl.ts';

const ApplicationsPage = graphql(`
  query ApplicationsPage($first: Int!, $after: String) {
    me {
      applications(first: $first, after: $after) {
        totalCount
        totalCountIsExact
        pageInfo {
          endCursor
          hasNextPage
        }
        edges {
          node {
            id
            name
            version
            status
            protocol
            createdAt
            licenses(first: 1) {
              totalCount
              totalCountIsExact
            }
            users(first: 1) {
              totalCount
              totalCountIsExact
            }
          }
        }
      }
    }
  }
`);

const read = ({ me }: ApplicationsPageQuery) => pageOf(present(me).applications);
type ApplicationRow = ReturnType<typeof read>['rows'][number];

const protocols = { any: '1 and 2', v2_only: '2 only' } as const satisfies Record<
  ApplicationRow['protocol'],
  string
>;

const NameLink = ({ id, name }: ApplicationRow) => (
  <Link to="/applications/$applicationId/licenses" params={{ applicationId: id }}>
    {name}
  </Link>
);

const countOf = ({ totalCount, totalCountIsExact }: ApplicationRow['licenses']): string =>
  countText(totalCount, totalCountIsExact);

const columns: readonly Column<ApplicationRow>[] = [
  { id: 'name', header: 'Name', cell: (row) => <NameLink {...row} /> },
  { id: 'version', header: 'Version', width: '120px', cell: ({ version }) => <Mono>{version}</Mono> },
  {
    id: 'status',
    header: 'Status',
    width: '110px',
    cell: ({ status }) => <ApplicationStatusBadge status={status} />,
  },
  { id: 'protocol', header: 'Protocol', width: '100px', cell: ({ protocol }) => protocols[protocol] },
  {
    id: 'licenses',
    header: 'Licenses',
    width: '110px',
    number: true,
    cell: ({ licenses }) => countOf(licenses),
  },
  { id: 'users', header: 'Users', width: '110px', number: true, cell: ({ users }) => countOf(users) },
  { id: 'created', header: 'Created', width: '120px', cell: ({ createdAt }) => <Day at={createdAt} /> },
];

export function Applications() {
  const pages = usePages({
    name: 'applications',
    query: (after) =>
      queryOf(ApplicationsPage, { first: pageSize, after }, ['application', 'license', 'user']),
    read,
  });
  return (
    <>
      <PageHeader title="Applications" sub={pages.total && `${countText(pages.total.count)} in all`}>
        <ButtonLink to="/applications/new" look="primary">
          Create application
        </ButtonLink>
      </PageHeader>
      <List
        label="Applications"
        pages={pages}
        columns={columns}
        card={(row) => (
          <>
            <span>
              <NameLink {...row} /> <ApplicationStatusBadge status={row.status} />
            </span>
            <span>
              Version <Mono>{row.version}</Mono>, protocol {protocols[row.protocol]}
            </span>
            <Dim>
              {countOf(row.licenses)} licenses, {countOf(row.users)} users, created <Day at={row.createdAt} />
            </Dim>
          </>
        )}
        empty={
          <EmptyState
            title="No applications yet"
            action={
              <ButtonLink to="/applications/new" look="primary">
                Create application
              </ButtonLink>
            }
            curl={createApplicationCurl()}
          >
            An application is a program that you sell. Licenses, users and policies belong to it.
          </EmptyState>
        }
      />
    </>
  );
}
