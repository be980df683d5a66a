import type { LogEntryFragment } from '../../generated/graphql.ts';

/** More than these are not kept above the list that is read page by page: the list is read again instead. */
export const mostLive = 300;

/** Entries that have come since the list was read, newest first. */
export interface LiveEntries {
  /** At the top of the list. */
  readonly shown: readonly LogEntryFragment[];
  /** Not shown, because the reader is further down; the newest at most. */
  readonly waiting: readonly LogEntryFragment[];
  /** How many wait in all. */
  readonly waitingCount: number;
}

export const noLiveEntries: LiveEntries = { shown: [], waiting: [], waitingCount: 0 };

const newestFirst = (entries: readonly LogEntryFragment[]) =>
  [...entries].sort((one, other) => (one.id < other.id ? 1 : one.id > other.id ? -1 : 0));

const withoutKnown = (entries: readonly LogEntryFragment[], known: readonly LogEntryFragment[]) => {
  const ids = new Set(known.map(({ id }) => id));
  return entries.filter(({ id }) => !ids.has(id));
};

/** Adds what the stream brought: at the top, or to those that wait. */
export function withEntries(
  live: LiveEntries,
  brought: readonly LogEntryFragment[],
  isAtTop: boolean,
): LiveEntries {
  const fresh = withoutKnown(brought, [...live.shown, ...live.waiting]);
  if (fresh.length === 0) return live;
  if (isAtTop) return { ...live, shown: newestFirst([...fresh, ...live.shown]).slice(0, 2 * mostLive) };
  return {
    ...live,
    waiting: newestFirst([...fresh, ...live.waiting]).slice(0, mostLive),
    waitingCount: live.waitingCount + fresh.length,
  };
}

/** Shows those that wait. */
export const withWaiting = ({ shown, waiting }: LiveEntries): LiveEntries => ({
  shown: newestFirst([...waiting, ...shown]).slice(0, 2 * mostLive),
  waiting: [],
  waitingCount: 0,
});

/** Drops what the first page of the list has by now, and what lies below it. */
export function withoutPage(live: LiveEntries, page: readonly LogEntryFragment[]): LiveEntries {
  const last = page.at(-1);
  if (last === undefined) return live;
  const isAbove = ({ id }: LogEntryFragment) => id > last.id;
  const shown = withoutKnown(live.shown, page).filter(isAbove);
  const waiting = withoutKnown(live.waiting, page).filter(isAbove);
  if (shown.length === live.shown.length && waiting.length === live.waiting.length) return live;
  return {
    shown,
    waiting,
    waitingCount: Math.max(0, live.waitingCount - (live.waiting.length - waiting.length)),
  };
}
