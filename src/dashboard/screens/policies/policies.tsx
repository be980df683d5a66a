import { useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { serviceUrl } from '../../api/paths.ts';
import { present } from '../../api/present.ts';
import { queryOf } from '../../api/query.ts';
import { graphql } from '../../generated/gql.ts';
import type { PoliciesPageQuery } from '../../generated/graphql.ts';
import { List } from '../../list/list.tsx';
import { pageOf } from '../../list/page.ts';
import { pageSize, usePages } from '../../list/use-pages.ts';
import { useApplicationName } from '../../shell/session.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { countText } from '../../ui/format.ts';
import { EmptyState, PageHeader } from '../../ui/page.tsx';
import styles from './policies.module.css';
import { PolicyCard, policyColumns } from './policy-columns.tsx';

const PoliciesPage = graphql(`
  query PoliciesPage($applicationId: ID!, $first: Int!, $after: String, $q: String) {
    application(id: $applicationId) {
      policies(first: $first, after: $after, q: $q) {
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
            code
            durationSeconds
            startsAt
            subscriptionTier
            deviceLimit
            graceSeconds
            selfService
            updatedAt
          }
        }
      }
    }
  }
`);

const read = ({ application }: PoliciesPageQuery) => pageOf(present(application).policies);
export type PolicyRow = ReturnType<typeof read>['rows'][number];

const curlOf = (applicationId: string): string =>
  `curl ${serviceUrl.origin}${serviceUrl.pathname}api/v1/apps/${applicationId}/policies \\
  -H "Authorization: Bearer $LATCHKEY_API_KEY" -H 'Content-Type: application/json' \\
  -d '{"code": "pro", "name": "Pro, one year", "durationSeconds": 31536000, "deviceLimit": 3}'`;

export function Policies() {
  const { applicationId } = useParams({ from: '/shell/applications/$applicationId/policies' });
  const applicationName = useApplicationName(applicationId);
  const [q, setQ] = useState('');
  const pages = usePages({
    name: JSON.stringify([applicationId, q]),
    query: (after) =>
      queryOf(PoliciesPage, { applicationId, first: pageSize, after, q: q.trim() || null }, ['policy']),
    read,
  });
  const columns = useMemo(() => policyColumns(applicationId), [applicationId]);
  const create = (
    <ButtonLink to="/applications/$applicationId/policies/new" params={{ applicationId }} look="primary">
      Create policy
    </ButtonLink>
  );
  return (
    <>
      <PageHeader
        title="Policies"
        sub={
          pages.total === null
            ? applicationName
            : `${applicationName} · ${countText(pages.total.count, pages.total.isExact)} in all`
        }
      >
        {create}
      </PageHeader>
      {(q !== '' || (pages.total?.count ?? 0) > 10) && (
        <div className={styles.search}>
          <TextField label="Find" placeholder="Name or code" type="search" value={q} onChange={setQ} />
        </div>
      )}
      <List
        label="Policies"
        pages={pages}
        columns={columns}
        card={(policy) => <PolicyCard applicationId={applicationId} policy={policy} />}
        empty={
          q === '' ? (
            <EmptyState title="No policies yet" action={create} curl={curlOf(applicationId)}>
              A policy describes what you sell, such as “Pro, one year, three devices”. A shop names it when
              it creates a license, and need not know what is in it.
            </EmptyState>
          ) : (
            <EmptyState title="No policy matches">
              Search for another part of the name or the code.
            </EmptyState>
          )
        }
      />
    </>
  );
}
