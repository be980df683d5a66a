import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { follow } from '../../api/follow.ts';
import { present } from '../../api/present.ts';
import { nameOf, queryOf } from '../../api/query.ts';
import { readFragment } from '../../generated/fragment-masking.ts';
import { graphql } from '../../generated/gql.ts';
import type { LogEntryFragment } from '../../generated/graphql.ts';
import { LogEntry } from '../../log-entries/entry.ts';

const OverviewEntries = graphql(`
  query OverviewEntries($application: ID!, $first: Int!) {
    application(id: $application) {
      securityLog(first: $first) {
        edges {
          node {
            ...LogEntry
          }
        }
      }
    }
  }
`);

const OverviewAccountEntries = graphql(`
  query OverviewAccountEntries($first: Int!) {
    me {
      account {
        securityLog(first: $first) {
          edges {
            node {
              ...LogEntry
            }
          }
        }
      }
    }
  }
`);

const OverviewLive = graphql(`
  subscription OverviewLive($application: ID!, $after: ID) {
    securityLog(applicationId: $application, after: $after) {
      ...LogEntry
    }
  }
`);

const first = 8;

/** There is no stream of all applications' entries, so that they are read from time to time. */
const roundMilliseconds = 4_000;

type Entries = readonly LogEntryFragment[];

/** Newest first, each once. */
const newest = (entries: Entries): Entries =>
  [...new Map(entries.map((entry) => [entry.id, entry])).values()]
    .sort((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, first);

interface NewestEntries {
  /** Null while they are read. */
  readonly entries: Entries | null;
  readonly error: ApiError | null;
  readonly retry: () => void;
}

/**
 * The newest entries of a log.
 * @param application null: of the account and all of its applications
 */
export function useNewestEntries(application: string | null): NewestEntries {
  const client = useQueryClient();
  const isOne = application !== null;
  const one = useQuery({
    ...queryOf(OverviewEntries, { application: application ?? '', first }),
    enabled: isOne,
    select: ({ application }) =>
      present(application).securityLog.edges.map(({ node }) => readFragment(LogEntry, node)),
  });
  const all = useQuery({
    ...queryOf(OverviewAccountEntries, { first }, ['license', 'application', 'user', 'account']),
    enabled: !isOne,
    refetchInterval: roundMilliseconds,
    select: ({ me }) => present(me).account.securityLog.edges.map(({ node }) => readFragment(LogEntry, node)),
  });
  const [arrived, setArrived] = useState<{ readonly of: string | null; readonly entries: Entries }>({
    of: null,
    entries: [],
  });
  useEffect(() => {
    if (application === null) return;
    return follow({
      document: OverviewLive,
      variables: (after) => ({ application, after }),
      idOf: ({ securityLog }) => readFragment(LogEntry, securityLog).id,
      onNext: ({ securityLog }) => {
        const entry = readFragment(LogEntry, securityLog);
        setArrived(({ of, entries }) => ({
          of: application,
          entries: newest([entry, ...(of === application ? entries : [])]),
        }));
      },
      onGap: () => client.invalidateQueries({ queryKey: [nameOf(OverviewEntries)] }),
      onState: () => {},
    });
  }, [application, client]);
  const { data, error, refetch } = isOne ? one : all;
  return {
    entries:
      data === undefined ? null : newest([...(arrived.of === application ? arrived.entries : []), ...data]),
    error: data === undefined ? error : null,
    retry: () => void refetch(),
  };
}
