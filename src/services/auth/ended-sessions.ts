import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import type { EphemeralStore } from '../../ephemeral/store.ts';
import type { Logger } from '../../lib/log.ts';
import { unauthenticated } from '../actor.ts';
import { type CacheChange, recordChanges } from '../coherence/cache-change.ts';
import type { DatabaseWatch } from '../coherence/database-watch.ts';
import type { Followers } from '../security-log/followers.ts';

/** Ends what was opened with a session, on every instance, when somebody logs out of it. */
export interface EndedSessions {
  /** Resolves when the other instances have been told, or cannot be told now. */
  announce(tokenHash: string): Promise<void>;
}

export interface EndedSessionsOptions {
  readonly database: Pick<Database, 'kind' | 'pool'>;
  readonly store: EphemeralStore;
  readonly watch: Pick<DatabaseWatch, 'listen'>;
  readonly followers: Followers;
  readonly log: Pick<Logger, 'warn'>;
}

const everyLogout: CacheChange = { cache: 'logout', keys: 'all' };
const channel = 'ended-sessions';
const message = z.object({ tokenHashes: z.array(z.string()) });
/** So many logouts that could not be told are kept, the latest. */
const mostUntold = 1_000;
/** So long a logout waits for a database that does not answer; it is recorded later then. */
const longestWait = 1_000;
const retryEvery = 1_000;

/**
 * The cookie is a signed token, and no list of ended ones is kept. So a logout is told over Redis, and recorded on a
 * database server; what cannot be told or recorded now is as soon as that answers again. An instance that was cut off,
 * and may have missed a logout, ends what was opened by cookie, without an error: who is still logged in comes back and
 * goes on where the stream stopped.
 */
export function createEndedSessions({
  database,
  store,
  watch,
  followers,
  log,
}: EndedSessionsOptions): EndedSessions {
  const untold = new Set<string>();
  const unrecorded = new Set<string>();
  let recording: Promise<void> | null = null;

  function end(tokenHashes: ReadonlySet<string>): void {
    const concerns: Parameters<Followers['endThose']>[0] = (actor) =>
      actor.via === 'cookie' && tokenHashes.has(actor.tokenHash);
    followers.endThose(concerns, unauthenticated('cookie'));
  }
  const endAll = (): void => followers.endThose(({ via }) => via === 'cookie');

  if (store.shared) {
    const subscription = store.subscribe(channel, {
      message: (text) => {
        const told = new Set(parse(text));
        for (const hash of told) untold.delete(hash);
        end(told);
      },
      interrupted: () => {
        if (subscription.live) endAll();
      },
    });
  }
  watch.listen((changes) => {
    for (const { cache, keys } of changes === 'all' ? [everyLogout] : changes) {
      if (cache !== 'logout') continue;
      if (keys === 'all') endAll();
      else end(new Set(keys));
    }
  });

  async function tell(tokenHash: string): Promise<void> {
    addBounded(untold, tokenHash);
    const print = (tokenHashes: string[]) => JSON.stringify({ tokenHashes });
    await store.publish(channel, print([tokenHash]), print([...untold])).then(
      () => untold.delete(tokenHash),
      (error: unknown) => log.warn({ err: error }, 'Other instances will learn of a logout later'),
    );
  }

  /** Records all that waits, again and again until it is done. What comes meanwhile goes with the next turn. */
  async function recordAll(): Promise<void> {
    while (unrecorded.size > 0 && !database.pool.ending) {
      const keys = [...unrecorded];
      try {
        await recordChanges(database.pool, [{ cache: 'logout', keys }]);
        for (const key of keys) unrecorded.delete(key);
      } catch (error) {
        log.warn({ err: error }, 'A logout could not be recorded for other instances; will try again');
        await sleep(retryEvery, undefined, { ref: false });
      }
    }
    recording = null;
  }

  async function record(tokenHash: string): Promise<void> {
    addBounded(unrecorded, tokenHash);
    recording ??= recordAll();
    await Promise.race([recording, sleep(longestWait, undefined, { ref: false })]);
  }

  return {
    async announce(tokenHash) {
      end(new Set([tokenHash]));
      await Promise.all([
        store.shared ? tell(tokenHash) : undefined,
        database.kind === 'server' ? record(tokenHash) : undefined,
      ]);
    },
  };
}

function addBounded(hashes: Set<string>, hash: string): void {
  hashes.add(hash);
  for (const oldest of hashes) if (hashes.size > mostUntold) hashes.delete(oldest);
}

function parse(text: string): readonly string[] {
  try {
    return message.safeParse(JSON.parse(text)).data?.tokenHashes ?? [];
  } catch {
    return [];
  }
}
