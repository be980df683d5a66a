import { z } from 'zod';
import { askServer } from './ask-server.ts';
import { type Host, hostText, nameOfRedis, type SentinelAddress } from './redis-address.ts';
import { failureOf, isUnknownCommand, tlsFailureOf } from './redis-failure.ts';
import { StoreUnavailableError } from './store.ts';

/** Null if the sentinel has no master of that name. */
const masterAnswer = z
  .tuple([z.string(), z.coerce.number()])
  .transform(([host, port]): Host => ({ host, port }))
  .nullable();

/** Asks one sentinel for the master. Null if it does not know the name. */
export const askSentinel = (
  sentinel: Host,
  { name, tls, sentinelCredentials: credentials }: SentinelAddress,
): Promise<Host | null> =>
  askServer(sentinel, { tls, credentials }, async (client) =>
    masterAnswer.parse(await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)),
  );

/**
 * Creates the search for the master. Each search begins with the sentinel after the one whose answer was used last: that
 * answer was wrong or has become so, and a sentinel may be the last to hear of a failover.
 */
export function createMasterSearch(address: SentinelAddress): () => Promise<Host> {
  const { hosts } = address;
  let turn = 0;
  return async () => {
    const begin = turn;
    const failures: string[] = [];
    for (const place of hosts.keys()) {
      const sentinel = hosts[(begin + place) % hosts.length];
      if (sentinel === undefined) continue;
      turn = begin + place + 1;
      try {
        const master = await askSentinel(sentinel, address);
        if (master !== null) return master;
        failures.push(`${hostText(sentinel)} knows no master "${address.name}"`);
      } catch (error) {
        failures.push(`${hostText(sentinel)} ${sentinelFailureOf(error)}`);
      }
    }
    throw new StoreUnavailableError(
      `${nameOfRedis(address)} cannot be used: no sentinel names the master (${failures.join('; ')}). Check REDIS_URL and ` +
        'that the sentinels run.',
    );
  };
}

/** A clause that follows the sentinel's address. */
export function sentinelFailureOf(error: unknown): string {
  if (isUnknownCommand(error)) return 'is not a sentinel: check its port in REDIS_URL';
  const failure = failureOf(error);
  if (/^(WRONGPASS|NOAUTH|ERR|NOPERM)$/.test(failure)) {
    return `refuses (${failure}): set sentinelUser and sentinelPassword in REDIS_URL if the sentinels have other credentials, and an empty sentinelPassword if they have none`;
  }
  return tlsFailureOf(error) ?? `cannot be asked (${failure})`;
}
