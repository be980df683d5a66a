import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { present } from '../../api/present.ts';
import { queryOf } from '../../api/query.ts';
import { graphql } from '../../generated/gql.ts';
import type { LicensesPageQuery } from '../../generated/graphql.ts';
import type { Column } from '../../list/columns.ts';
import { List } from '../../list/list.tsx';
import { pageOf } from '../../list/page.ts';
import { useSelection } from '../../list/selection.ts';
import { pageSize, usePages } from '../../list/use-pages.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { EmptyState, PageHeader } from '../../ui/page.tsx';
import { LicenseStatusBadge } from '../../ui/status.tsx';

const LicensesPage = graphql(`
  query LicensesPage($applicationId: ID!, $first: Int!, $after: String, $q: String, $filter: LicenseFilter) {
    application(id: $applicationId) {
      licenses(first: $first, after: $after, q: $q, filter: $filter) {
        totalCount
        totalCountIsExact
        pageInfo {
          endCursor
          hasNextPage
        }
        edges {
          node {
            id
            keyPrefix
            status
            graceEndsAt
          }
        }
      }
    }
  }
`);

const read = ({ application }: LicensesPageQuery) => pageOf(present(application).licenses);
type LicenseRow = ReturnType<typeof read>['rows'][number];

const columnsOf = (applicationId: string): readonly Column<LicenseRow>[] => [
  {
    id: 'key',
    header: 'Key',
    width: '180px',
    cell: ({ id, keyPrefix }) => (
      <Link to="/applications/$applicationId/licenses/$licenseId" params={{ applicationId, licenseId: id }}>
        {keyPrefix}
      </Link>
    ),
  },
  { id: 'status', header: 'Status', cell: (license) => <LicenseStatusBadge {...license} /> },
];

export function Licenses() {
  const { applicationId } = useParams({ from: '/shell/applications/$applicationId/licenses' });
  const { q } = useSearch({ from: '/shell/applications/$applicationId/licenses' });
  const name = JSON.stringify([applicationId, q]);
  const pages = usePages({
    name,
    query: (after) => queryOf(LicensesPage, { applicationId, first: pageSize, after, q }, ['license']),
    read,
  });
  const selection = useSelection(name);
  const columns = useMemo(() => columnsOf(applicationId), [applicationId]);
  return (
    <>
      <PageHeader title="Licenses">
        <ButtonLink to="/applications/$applicationId/mint" params={{ applicationId }} look="primary">
          Mint keys
        </ButtonLink>
      </PageHeader>
      <List
        label="Licenses"
        pages={pages}
        selection={selection}
        nameOf={({ keyPrefix }) => keyPrefix}
        columns={columns}
        card={(license) => license.keyPrefix}
        empty={<EmptyState title="No licenses yet">Mint keys.</EmptyState>}
      />
    </>
  );
}
