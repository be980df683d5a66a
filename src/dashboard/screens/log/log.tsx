import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { queryOf } from '../../api/query.ts';
import type { LogEntryFragment } from '../../generated/graphql.ts';
import { List } from '../../list/list.tsx';
import { pageSize, usePages } from '../../list/use-pages.ts';
import { useApplications } from '../../shell/session.ts';
import { Button } from '../../ui/button.tsx';
import { countText, numberText } from '../../ui/format.ts';
import { PageHeader } from '../../ui/page.tsx';
import { abovePages } from './above-pages.ts';
import { EntryDialog } from './entry-dialog.tsx';
import { ExportLog } from './export-dialog.tsx';
import { LiveControls } from './live-controls.tsx';
import styles from './log.module.css';
import { LogCard, logColumns } from './log-columns.tsx';
import { LogFilters } from './log-filters.tsx';
import { filterOf, LogPage, readLog } from './log-page.ts';
import { NoEntries } from './no-entries.tsx';
import type { LogSearch } from './search.ts';
import { useAtTop } from './use-at-top.ts';
import { useLiveLog } from './use-live-log.ts';

const from = '/shell/applications/$applicationId/log';

const totalText = ({ count, isExact }: { count: number; isExact: boolean }, isFiltered: boolean): string =>
  `${countText(count, isExact)} ${isFiltered ? 'match' : count === 1 ? 'entry' : 'entries'}`;

export function Log() {
  const { applicationId } = useParams({ from });
  const search = useSearch({ from });
  const navigate = useNavigate();
  const application = useApplications().find(({ id }) => id === applicationId);
  const [isPaused, setIsPaused] = useState(false);
  const [opened, setOpened] = useState<LogEntryFragment | null>(null);
  const [isExporting, setIsExporting] = useState(false);
  const name = JSON.stringify([applicationId, search]);
  const log = { applicationId, q: search.q ?? null, filter: filterOf(search) };
  const pages = usePages({
    name,
    query: (after) => ({
      ...queryOf(LogPage, { ...log, first: pageSize, after, isCounted: after === null }),
      // Entries do not change, and new ones come by the stream.
      staleTime: Number.POSITIVE_INFINITY,
    }),
    read: readLog,
  });
  const atTop = useAtTop();
  const live = useLiveLog({ applicationId, search, name, isPaused, mayMove: atTop.mayMove });
  const { shown, waitingCount } = live.entries;
  const { dropPage, showWaiting } = live;
  const firstPage = pages.loaded.from === 0 ? pages.loaded.rows : null;
  const top = firstPage?.[0]?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the list begins with says which page it is.
  useEffect(() => {
    if (firstPage !== null) dropPage(firstPage);
  }, [name, top]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: returning to the top counts.
  useEffect(() => {
    if (atTop.isAtTop && waitingCount > 0 && atTop.mayMove()) showWaiting();
  }, [atTop.isAtTop, waitingCount]);
  const all = abovePages(shown, pages);
  const columns = useMemo(() => logColumns(setOpened), []);
  const isFiltered = Object.keys(search).length > 0;
  const setSearch = (next: LogSearch, replace = false) =>
    navigate({
      to: '/applications/$applicationId/log',
      params: { applicationId },
      search: next,
      replace,
      resetScroll: false,
    });
  return (
    <>
      <PageHeader
        title="Log"
        sub={[application?.name, all.total && totalText(all.total, isFiltered), 'kept for about 90 days']
          .filter(Boolean)
          .join(' · ')}
      >
        <LiveControls stream={live.stream} isPaused={isPaused} onPause={setIsPaused} />
        <Button onClick={() => setIsExporting(true)}>Export</Button>
      </PageHeader>
      <LogFilters search={search} onChange={setSearch} />
      {waitingCount > 0 && (
        <div className={styles.newer}>
          <Button
            look="primary"
            onClick={() => {
              showWaiting();
              window.scrollTo({ top: 0 });
            }}
          >
            {numberText(waitingCount)} new {waitingCount === 1 ? 'entry' : 'entries'}
          </Button>
        </div>
      )}
      <List
        label="Log"
        pages={all}
        columns={columns}
        card={(entry) => <LogCard entry={entry} onOpen={setOpened} />}
        empty={
          <NoEntries applicationId={applicationId} isFiltered={isFiltered} onClear={() => setSearch({})} />
        }
      />
      {opened !== null && <EntryDialog entry={opened} onClose={() => setOpened(null)} />}
      {isExporting && (
        <ExportLog
          applicationName={application?.name ?? ''}
          log={log}
          total={all.total?.count ?? 0}
          onClose={() => setIsExporting(false)}
        />
      )}
    </>
  );
}
