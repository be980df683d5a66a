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
 * How processes learn of changes. A change is recorded in its transaction, applied in this process, and sent to the other
 * instances over Redis; each of them also reads it in the database. With an embedded database there is only one process,
 * and a change is only applied.
 */
export interface ChangeFeed {
  /** True if cached values may be served, because no older change can have been missed. Cheap. */
  readonly mayServe: boolean;
  /** Sets what changes, of this instance and of others, are applied to. */
  attach(outdated: Outdated): void;
  /** Records a transaction's changes. Call it last in the transaction. */
  record(transaction: Prisma.TransactionClient, changes: readonly Change[]): Promise<void>;
  /**
   * Applies changes that are committed. They have taken effect in this process when this returns.
   * @returns whether the other instances have received them; if not, see `waitForOthers`
   */
  tell(changes: readonly Change[]): Promise<Told>;
  /**
   * Applies, sends and records a change that belongs to no transaction, such as a logout. Resolves when the other
   * instances have received it or have had time to read it, or if the database does not respond; then it is recorded
   * later.
   */
  tellAndRecord(cache: ChangeKind, keys: readonly string[]): Promise<void>;
  /** Waits until the other instances have had time to read from the database what they have not received. */
  waitForOthers(): Promise<void>;
  /** Announcements of log entries that become visible late. Null without Redis or with an embedded database. */
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
    // Until then, nothing is cached and no stream is open.
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
  /**
   * There are many log entries, and followers check for them every few seconds anyway: with Redis, they are not recorded.
   */
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
      if (told === 'not-told') await watch.waitForOthers();
    },
    waitForOthers: watch.waitForOthers,
    lateEntries: carry && {
      announce: (entries) => void carry.sendPending(entries),
      listen: (listener) => void entryListeners.push(listener),
    },
  };
}
