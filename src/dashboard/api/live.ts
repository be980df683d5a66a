import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { graphql } from '../generated/gql.ts';
import { follow, type StreamState } from './follow.ts';

const LiveEvents = graphql(`
  subscription LiveEvents($after: ID) {
    events(after: $after) {
      id
      type
    }
  }
`);

/** Types that do not begin with the topic that they change. */
const renamed: Readonly<Record<string, string>> = { licenses: 'license', hwid: 'license', lease: 'license' };

/** Events about devices, bans, policies and users of a license change what a license shows. */
const alsoLicense: ReadonlySet<string> = new Set(['device', 'ban', 'policy', 'user']);

/** The topics that an event of this type changes. */
export function topicsOf(type: string): readonly string[] {
  const [first = ''] = type.split('.');
  const topic = renamed[first] ?? first;
  if (alsoLicense.has(topic)) return [topic, 'license'];
  // Banning a license creates bans, a first use binds a device, and a released device is counted.
  return topic === 'license' ? [topic, 'ban', 'device'] : [topic];
}

/** The wait between two rounds of reading, so that a bulk change of 10,000 licenses costs a few reads a second at most. */
const roundMilliseconds = 400;

function createRounds(client: QueryClient) {
  const due = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const isDue = ({ meta }: Query) => meta?.topics?.some((topic) => due.has(topic)) ?? false;
  const round = async () => {
    const reads = client.invalidateQueries({ predicate: isDue });
    due.clear();
    await reads;
    timer = due.size > 0 ? setTimeout(round, roundMilliseconds) : undefined;
  };
  return {
    add: (topics: readonly string[]) => {
      for (const topic of topics) due.add(topic);
      timer ??= setTimeout(round, 50);
    },
    stop: () => clearTimeout(timer),
  };
}

/** Reads what is on the screen again as soon as the service says that it has changed. */
export function useLiveUpdates(): StreamState {
  const client = useQueryClient();
  const [state, setState] = useState<StreamState>('connecting');
  useEffect(() => {
    const rounds = createRounds(client);
    const leave = follow({
      document: LiveEvents,
      variables: (after) => ({ after }),
      idOf: ({ events }) => events.id,
      onNext: ({ events }) => rounds.add(topicsOf(events.type)),
      onGap: () => client.invalidateQueries({ predicate: ({ state }) => state.dataUpdatedAt > 0 }),
      onState: setState,
    });
    return () => {
      leave();
      rounds.stop();
    };
  }, [client]);
  return state;
}
