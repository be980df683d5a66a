import { useSuspenseInfiniteQuery } from '@tanstack/react-query';
import type { ApiError } from '../api/api-error.ts';
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
 * The entries about one thing, newest first, with more on demand.
 * @param key names them in the cache
 * @param read reads a page that selects `...LogEntries`
 */
export function useEntries(
  key: readonly [string, Readonly<Record<string, string>>],
  read: (after: string | null, signal: AbortSignal) => Promise<Page>,
) {
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage } = useSuspenseInfiniteQuery<
    Page,
    ApiError,
    readonly Page[],
    typeof key,
    string | null
  >({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: null,
    getNextPageParam: (page) => {
      const { pageInfo } = readFragment(LogEntries, page);
      return pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null;
    },
    select: ({ pages }) => pages,
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
