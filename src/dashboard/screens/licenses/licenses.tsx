import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { queryOf } from '../../api/query.ts';
import { graphql } from '../../generated/gql.ts';
import { List } from '../../list/list.tsx';
import { useSelection } from '../../list/selection.ts';
import { pageSize, usePages } from '../../list/use-pages.ts';
import { useApplications } from '../../shell/session.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { countText } from '../../ui/format.ts';
import { PageHeader } from '../../ui/page.tsx';
import { ColumnMenu } from './column-menu.tsx';
import { licenseColumns } from './columns.tsx';
import { ExportLicenses } from './export-dialog.tsx';
import { filterOf, isFiltered } from './filter.ts';
import { useHiddenColumns } from './hidden-columns.ts';
import { LicenseCard } from './license-card.tsx';
import { LicenseFilters } from './license-filters.tsx';
import styles from './licenses.module.css';
import { LicensesPage, readLicenses } from './licenses-page.ts';
import { NoLicenses } from './no-licenses.tsx';
import { SelectionBar } from './selection-bar.tsx';

const LicensesInAll = graphql(`
  query LicensesInAll($applicationId: ID!) {
    application(id: $applicationId) {
      licenses(first: 1) {
        totalCount
        totalCountIsExact
      }
    }
  }
`);

const from = '/shell/applications/$applicationId/licenses';

export function Licenses() {
  const { applicationId } = useParams({ from });
  const search = useSearch({ from });
  const navigate = useNavigate();
  const [hidden, showColumn] = useHiddenColumns();
  const [isExporting, setIsExporting] = useState(false);
  const application = useApplications().find(({ id }) => id === applicationId);
  const name = JSON.stringify([applicationId, search]);
  // "Within 30 days" counts from when the filter was set, so that all pages of a list have the same bounds.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the name has the search.
  const filter = useMemo(() => filterOf(search, Date.now()), [name]);
  const licenses = { applicationId, q: search.q, filter };
  const pages = usePages({
    name,
    query: (after) =>
      queryOf(LicensesPage, { ...licenses, first: pageSize, after, isCounted: after === null }, ['license']),
    read: readLicenses,
  });
  const inAll = useQuery({
    ...queryOf(LicensesInAll, { applicationId }, ['license']),
    enabled: isFiltered(search),
  }).data?.application?.licenses;
  const selection = useSelection(name);
  const columns = useMemo(() => licenseColumns(applicationId), [applicationId]);
  const total = pages.total ?? { count: 0, isExact: true };
  const counts = [
    inAll && `${countText(inAll.totalCount, inAll.totalCountIsExact)} in all`,
    pages.total && `${countText(total.count, total.isExact)} ${isFiltered(search) ? 'match' : 'in all'}`,
  ].filter(Boolean);
  return (
    <>
      <PageHeader
        title="Licenses"
        sub={[application?.name, counts.join(', ')].filter(Boolean).join(' · ') || ' '}
      >
        <ColumnMenu columns={columns} hidden={hidden} onChange={showColumn} />
        <Button onClick={() => setIsExporting(true)}>Export</Button>
        <ButtonLink to="/applications/$applicationId/mint" params={{ applicationId }} look="primary">
          Mint keys <kbd className={styles.shortcut}>m</kbd>
        </ButtonLink>
      </PageHeader>
      <LicenseFilters
        applicationId={applicationId}
        search={search}
        onChange={(next, replace = false) =>
          navigate({
            to: '/applications/$applicationId/licenses',
            params: { applicationId },
            search: next,
            replace,
            resetScroll: false,
          })
        }
      />
      <List
        label="Licenses"
        pages={pages}
        selection={selection}
        nameOf={({ keyPrefix }) => keyPrefix}
        columns={columns}
        hidden={hidden}
        card={(license) => <LicenseCard applicationId={applicationId} license={license} />}
        empty={<NoLicenses applicationId={applicationId} isFiltered={isFiltered(search)} />}
      />
      <SelectionBar licenses={licenses} selection={selection} total={total} />
      {isExporting && (
        <ExportLicenses
          applicationName={application?.name ?? ''}
          licenses={licenses}
          total={total.count}
          onClose={() => setIsExporting(false)}
        />
      )}
    </>
  );
}
