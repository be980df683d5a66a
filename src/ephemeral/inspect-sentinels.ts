import { z } from 'zod';
import { askServer } from './ask-server.ts';
import { askSentinel, sentinelFailureOf } from './find-master.ts';
import { type Host, hostText, type SentinelAddress } from './redis-address.ts';
import { failureOf } from './redis-failure.ts';

/** What one sentinel says about the master. */
export interface SentinelState {
  /** Host and port, as in REDIS_URL. */
  readonly sentinel: string;
  /** Why it cannot be asked; null if it can. */
  readonly failure: string | null;
  /** The master's host and port; null if it does not know the name. */
  readonly master: string | null;
  /** Whether enough sentinels can be reached to fail over (SENTINEL CKQUORUM); null if it does not say so. */
  readonly hasQuorum: boolean | null;
  /** How many sentinels watch the master, and how many replicas it has. */
  readonly sentinels: number;
  readonly replicas: number;
}

/** A flat list of names and values. */
const facts = z
  .array(z.string())
  .transform((list) => new Map(list.map((name, place) => [name, list[place + 1]])));

/** Asks every sentinel of REDIS_URL about the master. */
export const inspectSentinels = (address: SentinelAddress): Promise<SentinelState[]> =>
  Promise.all(address.hosts.map((sentinel) => inspectSentinel(sentinel, address)));

async function inspectSentinel(sentinel: Host, address: SentinelAddress): Promise<SentinelState> {
  const unknown = { sentinel: hostText(sentinel), failure: null, master: null, hasQuorum: null };
  try {
    const master = await askSentinel(sentinel, address);
    if (master === null) return { ...unknown, sentinels: 0, replicas: 0 };
    const { tls, sentinelCredentials: credentials, name } = address;
    return await askServer(sentinel, { tls, credentials }, async (client) => {
      const known = facts.parse(await client.call('SENTINEL', 'MASTER', name));
      const count = (fact: string): number => Number(known.get(fact) ?? 0);
      const hasQuorum = await client.call('SENTINEL', 'CKQUORUM', name).then(
        () => true,
        (error: unknown) => (failureOf(error) === 'NOQUORUM' ? false : null),
      );
      return {
        ...unknown,
        master: hostText(master),
        hasQuorum,
        sentinels: count('num-other-sentinels') + 1,
        replicas: count('num-slaves'),
      };
    });
  } catch (error) {
    return { ...unknown, failure: sentinelFailureOf(error), sentinels: 0, replicas: 0 };
  }
}
