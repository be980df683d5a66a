import { present } from '../../api/present.ts';
import { readFragment } from '../../generated/fragment-masking.ts';
import { graphql } from '../../generated/gql.ts';
import type { LogEntryFragment, LogPageQuery, SecurityLogFilter } from '../../generated/graphql.ts';
import { type Page, pageOf } from '../../list/page.ts';
import { LogEntry } from '../../log-entries/entry.ts';
import { entryEvents } from '../../log-entries/entry-text.ts';
import type { LogSearch } from './search.ts';

export const LogPage = graphql(`
  query LogPage(
    $applicationId: ID!
    $first: Int!
    $after: String
    $q: String
    $filter: SecurityLogFilter
    $isCounted: Boolean!
  ) {
    application(id: $applicationId) {
      securityLog(first: $first, after: $after, q: $q, filter: $filter) {
        totalCount @include(if: $isCounted)
        totalCountIsExact @include(if: $isCounted)
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

export function readLog({ application }: LogPageQuery): Page<LogEntryFragment> {
  const page = pageOf(present(application).securityLog);
  return { ...page, rows: page.rows.map((node) => readFragment(LogEntry, node)) };
}

/** The known kinds among those of the URL. */
export const eventsOf = ({ events = [] }: LogSearch) => entryEvents.filter((event) => events.includes(event));

export const filterOf = (search: LogSearch): SecurityLogFilter => {
  const events = eventsOf(search);
  return {
    ...(events.length > 0 && { events }),
    ...(search.codes && { codes: [...search.codes] }),
    ...(search.license && { licenseId: search.license }),
    ...(search.user && { userId: search.user }),
    ...(search.from && { createdFrom: search.from }),
    ...(search.to && { createdBefore: search.to }),
  };
};

/** Whether an entry of the stream matches what the stream itself does not filter by. */
export function matches(entry: LogEntryFragment, { q, from, to }: LogSearch): boolean {
  const at = Date.parse(entry.createdAt);
  if (from !== undefined && at < Date.parse(from)) return false;
  if (to !== undefined && at >= Date.parse(to)) return false;
  if (q === undefined) return true;
  const searched = q.toLowerCase();
  return [entry.event, entry.code, entry.ip, entry.country, entry.hwid].some((text) =>
    text?.toLowerCase().includes(searched),
  );
}
