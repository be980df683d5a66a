import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import { present } from '../../api/present.ts';
import { request } from '../../api/request.ts';
import { readFragment } from '../../generated/fragment-masking.ts';
import { graphql } from '../../generated/gql.ts';
import { isRefusal, LogEntry } from '../../log-entries/entry.ts';
import { EntryRow } from '../../log-entries/entry-row.tsx';
import { Button } from '../../ui/button.tsx';
import { countText } from '../../ui/format.ts';
import { Card } from '../../ui/page.tsx';
import { Dim, Hidden } from '../../ui/text.tsx';
import styles from './license.module.css';

const LicenseTimeline = graphql(`
  query LicenseTimeline($licenseId: ID!, $after: String) {
    license(id: $licenseId) {
      securityLog(first: 20, after: $after) {
        totalCount
        totalCountIsExact
        pageInfo {
          endCursor
          hasNextPage
        }
        edges {
          node {
            ...LogEntry
          }
        }
      }
    }
  }
`);

const firstPage: string | null = null;

interface TimelineProps {
  readonly licenseId: string;
  readonly onExplain: (logEntryId: string) => void;
}

/** What happened to the license, newest first. */
export function Timeline({ licenseId, onExplain }: TimelineProps) {
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useSuspenseInfiniteQuery({
    queryKey: ['LicenseTimeline', { licenseId }],
    queryFn: async ({ pageParam, signal }) => {
      const answer = await request(LicenseTimeline, { licenseId, after: pageParam }, { signal });
      return present(answer.license).securityLog;
    },
    initialPageParam: firstPage,
    getNextPageParam: ({ pageInfo }) => (pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null),
    meta: { topics: ['license', 'device', 'ban', 'policy', 'user'] },
  });
  const entries = data.pages.flatMap(({ edges }) => edges.map(({ node }) => readFragment(LogEntry, node)));
  const [first] = data.pages;
  return (
    <Card
      title="Timeline"
      aside={first && <Dim>{countText(first.totalCount, first.totalCountIsExact)} entries</Dim>}
    >
      {entries.length === 0 && <Dim>Nothing in the log. Entries are kept for about 90 days.</Dim>}
      <ol className={styles.timeline}>
        {entries.map((entry) => (
          <li key={entry.id}>
            <EntryRow
              entry={entry}
              without="license"
              action={
                isRefusal(entry) && (
                  <Button small look="quiet" onClick={() => onExplain(entry.id)}>
                    Explain<Hidden> this refusal with {entry.code}</Hidden>
                  </Button>
                )
              }
            />
          </li>
        ))}
      </ol>
      {hasNextPage && (
        <div className={styles.below}>
          <Button small busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </Card>
  );
}
