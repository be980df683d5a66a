import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import type { ApiError } from '../api/api-error.ts';
import { unlessMissing } from '../api/unless-missing.ts';
import { type FragmentType, readFragment } from '../generated/fragment-masking.ts';
import { graphql } from '../generated/gql.ts';
import { LogEntry } from './entry.ts';

const LogEntries = graphql(`
  fragment LogEntries on SecurityLogConnection {
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
`);

type Page = FragmentType<typeof LogEntries>;

/**
 * The entries about one thing, newest first, with more on demand. None if it has been deleted: its screen says so.
 * @param key names them in the cache
 * @param read reads a page that selects `...LogEntries`
 */
export function useEntries(
  key: readonly [string, Readonly<Record<string, string>>],
  read: (after: string | null, signal: AbortSignal) => Promise<Page>,
) {
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useSuspenseInfiniteQuery<
    Page | null,
    ApiError,
    readonly Page[],
    typeof key,
    string | null
  >({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => unlessMissing(read(pageParam, signal)),
    initialPageParam: null,
    getNextPageParam: (page) => {
      if (page === null) return null;
      const { pageInfo } = readFragment(LogEntries, page);
      return pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null;
    },
    select: ({ pages }) => pages.filter((page) => page !== null),
    meta: { topics: ['license', 'device', 'ban', 'policy', 'user'] },
  });
  const pages = readFragment(LogEntries, data);
  return {
    entries: pages.flatMap(({ edges }) =>
      readFragment(
        LogEntry,
        edges.map(({ node }) => node),
      ),
    ),
    total: { count: pages[0]?.totalCount ?? 0, isExact: pages[0]?.totalCountIsExact ?? true },
    hasMore: hasNextPage,
    isLoading: isFetchingNextPage,
    showMore: () => void fetchNextPage(),
  };
}

export type Entries = ReturnType<typeof useEntries>;
