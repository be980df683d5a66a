import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { follow, type StreamState } from '../../api/follow.ts';
import { nameOf } from '../../api/query.ts';
import { readFragment } from '../../generated/fragment-masking.ts';
import { graphql } from '../../generated/gql.ts';
import type { LogEntryFragment } from '../../generated/graphql.ts';
import { LogEntry } from '../../log-entries/entry.ts';
import { createBatches } from './batches.ts';
import {
  type LiveEntries,
  mostLive,
  noLiveEntries,
  withEntries,
  withoutPage,
  withWaiting,
} from './live-entries.ts';
import { eventsOf, LogPage, matches } from './log-page.ts';
import type { LogSearch } from './search.ts';

const LogEntries = graphql(`
  subscription LogEntries(
    $applicationId: ID!
    $after: ID
    $events: [SecurityEvent!]
    $codes: [String!]
    $licenseId: ID
    $userId: ID
  ) {
    securityLog(
      applicationId: $applicationId
      after: $after
      events: $events
      codes: $codes
      licenseId: $licenseId
      userId: $userId
    ) {
      id
      ...LogEntry
    }
  }
`);

interface LiveLogOptions {
  readonly applicationId: string;
  readonly search: LogSearch;
  /** Names application and filters: another name is another stream. */
  readonly name: string;
  readonly isPaused: boolean;
  /** Whether new entries may move the rows: the reader is at the top, and reads no row in particular. */
  readonly mayMove: () => boolean;
}

/** The entries that come while the screen is open. They are shown in batches, so that any rate of them can be followed. */
export function useLiveLog({ applicationId, search, name, isPaused, mayMove }: LiveLogOptions) {
  const client = useQueryClient();
  const [live, setLive] = useState({ name, entries: noLiveEntries });
  const [stream, setStream] = useState<StreamState>('connecting');
  const latest = useRef({ search, mayMove });
  latest.current = { search, mayMove };
  const change = (next: (entries: LiveEntries) => LiveEntries) =>
    setLive((state) => ({ name, entries: next(state.name === name ? state.entries : noLiveEntries) }));
  const readAgain = () => client.invalidateQueries({ queryKey: [nameOf(LogPage)] });

  // biome-ignore lint/correctness/useExhaustiveDependencies: the name has the application and the filters.
  useEffect(() => {
    if (isPaused) return;
    const batches = createBatches<LogEntryFragment>(2 * mostLive, (brought) => {
      const matching = brought.filter((entry) => matches(entry, latest.current.search));
      if (matching.length > 0) change((entries) => withEntries(entries, matching, latest.current.mayMove()));
    });
    const { codes, license, user } = latest.current.search;
    const events = eventsOf(latest.current.search);
    const leave = follow({
      document: LogEntries,
      variables: (after) => ({
        applicationId,
        after,
        events: events.length > 0 ? events : null,
        codes: codes ? [...codes] : null,
        licenseId: license ?? null,
        userId: user ?? null,
      }),
      idOf: ({ securityLog }) => securityLog.id,
      onNext: ({ securityLog }) => batches.add(readFragment(LogEntry, securityLog)),
      onGap: () => void readAgain(),
      onState: setStream,
    });
    return () => {
      leave();
      batches.stop();
    };
  }, [client, name, isPaused]);

  const entries = live.name === name ? live.entries : noLiveEntries;
  const isFull = entries.shown.length > mostLive;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only reaching the limit counts.
  useEffect(() => {
    if (!isFull) return;
    void readAgain();
    const timer = setInterval(() => {
      // Further down, a new first page would move the rows that are read.
      if (latest.current.mayMove()) void readAgain();
    }, 2_000);
    return () => clearInterval(timer);
  }, [isFull]);

  return {
    entries,
    stream: isPaused ? ('paused' as const) : stream,
    showWaiting: () => {
      if (entries.waitingCount > entries.waiting.length) void readAgain();
      change(withWaiting);
    },
    /** Says what the first page of the list has. */
    dropPage: (page: readonly LogEntryFragment[]) => change((known) => withoutPage(known, page)),
  };
}
