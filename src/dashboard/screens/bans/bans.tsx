import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { queryOf } from '../../api/query.ts';
import { List } from '../../list/list.tsx';
import { pageSize, usePages } from '../../list/use-pages.ts';
import { useApplications } from '../../shell/session.ts';
import { countText } from '../../ui/format.ts';
import { PageHeader } from '../../ui/page.tsx';
import { BanCard, banColumns } from './ban-columns.tsx';
import { BanFilters } from './ban-filters.tsx';
import { type BanRow, BansPage, readBans } from './bans-page.ts';
import { NoBans } from './no-bans.tsx';
import { RemoveBanDialog } from './remove-ban-dialog.tsx';
import type { BanSearch } from './search.ts';

const from = '/shell/applications/$applicationId/bans';

export function Bans() {
  const { applicationId } = useParams({ from });
  const search = useSearch({ from });
  const navigate = useNavigate();
  const [removed, setRemoved] = useState<BanRow | null>(null);
  const application = useApplications().find(({ id }) => id === applicationId);
  const filter = search.type === undefined ? {} : { banType: search.type };
  const pages = usePages({
    name: JSON.stringify([applicationId, search]),
    query: (after) =>
      queryOf(BansPage, { applicationId, first: pageSize, after, q: search.q, filter }, ['ban']),
    read: readBans,
  });
  const columns = useMemo(() => banColumns(applicationId, setRemoved), [applicationId]);
  const isFiltered = Object.keys(search).length > 0;
  const count =
    pages.total && `${countText(pages.total.count, pages.total.isExact)} ${isFiltered ? 'match' : 'in all'}`;
  const setSearch = (next: BanSearch) =>
    navigate({
      to: '/applications/$applicationId/bans',
      params: { applicationId },
      search: next,
      replace: true,
      resetScroll: false,
    });
  return (
    <>
      <PageHeader title="Bans" sub={[application?.name, count].filter(Boolean).join(' · ') || ' '} />
      <BanFilters search={search} onChange={setSearch} />
      <List
        label="Bans"
        pages={pages}
        columns={columns}
        card={(ban) => <BanCard applicationId={applicationId} ban={ban} onRemove={setRemoved} />}
        empty={<NoBans applicationId={applicationId} isFiltered={isFiltered} />}
      />
      {removed && (
        <RemoveBanDialog applicationId={applicationId} ban={removed} onClose={() => setRemoved(null)} />
      )}
    </>
  );
}
