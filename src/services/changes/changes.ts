import type { Prisma } from '../../db/client.ts';
import type { Database } from '../../db/database.ts';
import type { EphemeralStore } from '../../ephemeral/store.ts';
import type { Logger } from '../../lib/log.ts';
import { type Carry, createCarry, type PendingEntry, type Told } from './carry.ts';
import {
  applyChanges,
  type Change,
  type ChangeKind,
  type Changes,
  mergeChanges,
  type Outdated,
} from './change.ts';
import { createChangeRecorder, recordChanges } from './record.ts';
import type { Watch } from './watch.ts';

/**
 * How processes learn what changed. A change is recorded in its transaction, applied in this process, and carried to the
 * other instances over Redis; each of them also reads it in the database. On an embedded database there is one process,
 * and a change is only applied.
 */
export interface ChangeFeed {
  /** True if cached values may be served: no change can have been missed for long. Cheap. */
  readonly mayServe: boolean;
  /** From now on, changes of this instance and of others are applied to this. */
  attach(outdated: Outdated): void;
  /** Records what a transaction changes. Call it last in the transaction. */
  record(transaction: Prisma.TransactionClient, changes: readonly Change[]): Promise<void>;
  /**
   * Applies changes that are committed. They have taken effect in this process when this returns.
   * @returns whether the other instances have heard of them; if not, see `othersHaveLooked`
   */
  tell(changes: readonly Change[]): Promise<Told>;
  /**
   * Applies, carries and records a change that belongs to no transaction, such as a logout. Resolves when the other
   * instances have heard of it or have had time to read it, or when the database does not answer; then it is recorded
   * later.
   */
  tellAndRecord(cache: ChangeKind, keys: readonly string[]): Promise<void>;
  /** Waits until the other instances have had time to read in the database what they were not told. */
  othersHaveLooked(): Promise<void>;
  /** Entries of the security log that become visible late. Null where no other instance could hear of them. */
  readonly lateEntries: {
    announce(entries: readonly PendingEntry[]): void;
    listen(listener: (instance: string, entries: readonly PendingEntry[]) => void): void;
  } | null;
}

export interface ChangeFeedOptions {
  readonly database: Pick<Database, 'kind' | 'pool'>;
  readonly store: EphemeralStore;
  readonly watch: Watch;
  readonly log: Pick<Logger, 'debug' | 'warn'>;
}

export function createChangeFeed({ database, store, watch, log }: ChangeFeedOptions): ChangeFeed {
  const isServer = database.kind === 'server';
  let outdated: Outdated | null = null;
  const entryListeners: ((instance: string, entries: readonly PendingEntry[]) => void)[] = [];
  const apply = (changes: Changes): void => {
    // Before it is attached, nothing is cached or open.
    if (outdated !== null) applyChanges(changes, outdated);
  };

  const carry: Carry | null =
    isServer && store.shared
      ? createCarry(store, log, {
          changed: apply,
          pending: (instance, entries) => {
            for (const listener of entryListeners) listener(instance, entries);
          },
        })
      : null;
  watch.listen(apply);
  const recorder = createChangeRecorder(database.pool, log);
  /** Entries of the log are many, and followers look for them every few seconds anyway: Redis is enough for those. */
  const isRecorded = ({ cache }: Pick<Change, 'cache'>): boolean =>
    isServer && (cache !== 'log' || carry === null);

  async function tell(changes: readonly Change[]): Promise<Told> {
    const merged = mergeChanges(changes);
    apply(merged);
    if (carry === null || merged.length === 0) return 'told';
    const told = await carry.send(merged);
    if (told === 'told' || !merged.some(isRecorded)) return 'told';
    log.warn('Other instances learn of a change from the database: Redis did not take the message');
    return 'not-told';
  }

  return {
    get mayServe() {
      return (carry === null || carry.isLive) && watch.mayServe;
    },
    attach: (to) => {
      outdated = to;
    },
    record: (transaction, changes) => recordChanges(transaction, changes.filter(isRecorded)),
    tell,
    async tellAndRecord(cache, keys) {
      const recorded = isRecorded({ cache }) ? recorder.record(cache, keys) : undefined;
      const [told] = await Promise.all([tell([{ cache, keys }]), recorded]);
      if (told === 'not-told') await watch.othersHaveLooked();
    },
    othersHaveLooked: watch.othersHaveLooked,
    lateEntries: carry && {
      announce: (entries) => void carry.sendPending(entries),
      listen: (listener) => void entryListeners.push(listener),
    },
  };
}
