import { type UseQueryOptions, useQueries } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { ApiError } from '../api/api-error.ts';
import type { Page } from './page.ts';

export const pageSize = 50;

/** How long a page that has left the screen is kept, so that memory does not grow with what was scrolled past. */
const keptMilliseconds = 5_000;

// biome-ignore lint/suspicious/noExplicitAny: the query's own types are checked where it is made, by `queryOf`.
type PageQuery = (after: string | null) => UseQueryOptions<any, ApiError, any, any>;

interface PagesOptions<Data, Row> {
  /** Names the list: another name is another list, which begins at its first page. */
  readonly name: string;
  readonly query: PageQuery;
  readonly read: (data: Data) => Page<Row>;
}

export interface Pages<Row> {
  /** How many rows are known to exist: the loaded pages, and the place of the next one. */
  readonly count: number;
  readonly total: { readonly count: number; readonly isExact: boolean } | null;
  /** A row, or undefined while its page is loading. */
  readonly rowAt: (index: number) => Row | undefined;
  /** The rows of the pages on the screen, and the index of the first one. */
  readonly loaded: { readonly from: number; readonly rows: readonly Row[] };
  /** Says which rows are on the screen. */
  readonly show: (from: number, to: number) => void;
  readonly isLoading: boolean;
  readonly error: ApiError | null;
  readonly retry: () => void;
}

/** The pages on the screen, and the cursor before each page that is known. */
interface Position {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  readonly cursors: readonly (string | null)[];
}

/** What is shown of a list: its pages by index, and its count, which the page that was counted last has told. */
interface Shown<Row> {
  readonly name: string;
  readonly pages: Map<number, Page<Row>>;
  total: Pages<Row>['total'];
}

const beginningOf = (name: string): Position => ({ name, first: 0, last: 0, cursors: [null] });

/**
 * A list that is read page by page with keyset cursors. Only the pages on the screen are kept; the cursor of every page
 * that was passed is remembered, so that any of them can be read again. Each page begins where the one before it ends
 * now, so that no row is missed when rows are added or removed.
 */
export function usePages<Data, Row>({ name, query, read }: PagesOptions<Data, Row>): Pages<Row> {
  const [state, setState] = useState<Position>(() => beginningOf(name));
  const current = state.name === name ? state : beginningOf(name);
  const move = (change: Partial<Position>) =>
    setState((latest) => ({ ...(latest.name === name ? latest : beginningOf(name)), ...change }));
  const { first, cursors } = current;
  const last = Math.min(current.last, cursors.length - 1);
  const indexes = Array.from({ length: Math.max(0, last - first) + 1 }, (_, offset) => first + offset);

  const results = useQueries({
    queries: indexes.map((index) => ({ ...query(cursors[index] ?? null), gcTime: keptMilliseconds })),
  });

  // While a page is read again because the one before it ends elsewhere now, its rows stay on the screen.
  const shown = useRef<Shown<Row>>({ name, pages: new Map(), total: null });
  if (shown.current.name !== name) shown.current = { name, pages: new Map(), total: null };
  const { pages } = shown.current;
  for (const index of pages.keys()) if (index < first || index > last) pages.delete(index);
  indexes.forEach((index, position) => {
    const data = results[position]?.data as Data | undefined;
    if (data === undefined) return;
    const page = read(data);
    pages.set(index, page);
    if (page.totalCount !== null) {
      shown.current.total = { count: page.totalCount, isExact: page.totalCountIsExact };
    }
  });

  const known = [...cursors];
  indexes.forEach((index, position) => {
    const page = results[position]?.data === undefined ? undefined : pages.get(index);
    if (page === undefined) return;
    if (!page.hasNextPage) known.length = index + 1;
    else known[index + 1] = page.endCursor;
  });
  const isChanged =
    known.length !== cursors.length || known.some((cursor, index) => cursor !== cursors[index]);
  useEffect(() => {
    if (isChanged) move({ cursors: known });
  });

  const rowAt = (index: number) => pages.get(Math.floor(index / pageSize))?.rows[index % pageSize];
  const end = pages.get(known.length - 1);
  const failed = results.find(({ error }) => error !== null);
  return {
    count: end === undefined ? known.length * pageSize : (known.length - 1) * pageSize + end.rows.length,
    total: shown.current.total,
    rowAt,
    loaded: { from: first * pageSize, rows: indexes.flatMap((index) => [...(pages.get(index)?.rows ?? [])]) },
    show: (from, to) => {
      const next = {
        first: Math.max(0, Math.floor(from / pageSize)),
        last: Math.max(0, Math.floor(to / pageSize)),
      };
      if (next.first !== current.first || next.last !== current.last) move(next);
    },
    isLoading: results.some(({ isPending }) => isPending),
    error: failed?.error ?? null,
    retry: () => {
      for (const result of results) if (result.error !== null) void result.refetch();
    },
  };
}
