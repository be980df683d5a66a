import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { isLockTimeout } from '../../db/errors.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { createFailureLog } from '../../lib/failure-log.ts';
import { newId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import type { PendingEntry } from '../changes/carry.ts';
import type { ClientOrigin } from '../client-origin.ts';
import type { SecurityLogInput, SecurityLogRow } from './entry.ts';
import { createHeldUpEntries } from './held-up.ts';
import { findLocked } from './locked-applications.ts';
import { createToldRefusals, type ToldRefusals } from './refusals.ts';
import { createRepeats } from './repeats.ts';
import {
  ambiguous,
  collectUses,
  countLastUses,
  countUses,
  type DeviceUse,
  noUses,
  type Uses,
} from './uses.ts';
import { writeWhatCanBe } from './write-what-can-be.ts';

/** Writes the outcomes of client requests in the background, so that no customer waits for the log. */
export interface SecurityLogWriter {
  /** Adds an outcome, which is in the database at most 250 ms later. */
  add(client: ClientOrigin, input: ClientOutcome): void;
  /** Sets the address that a license was last used from, with the same delay. Null leaves the last known address. */
  seen(licenseId: string, ip: string | null): void;
  /** Sets when and from where a device was last used, with the same delay. A released device is not changed. */
  deviceSeen(deviceId: string, use: DeviceUse): void;
  /** Writes everything that is waiting. */
  flush(): Promise<void>;
  /**
   * The lowest id of the entries that are not in the database yet, in the current batch or in the queue; and of each
   * application that another transaction has locked.
   */
  readonly oldestWaiting: readonly PendingEntry[];
  /** Number of entries that wait to be written, including the current batch. */
  readonly waiting: number;
  /** Number of entries that were written. */
  readonly written: number;
  /** Number of entries that were dropped because the buffer was full or the database refused them. */
  readonly shed: number;
  /**
   * Writes everything that is waiting and stops.
   * @param deadline how long it waits for locked rows, in terms of `performance.now()`; ten seconds by default
   * @throws {Error} when some of it could not be written and is lost
   */
  close(deadline?: number): Promise<void>;
}

/** An outcome always belongs to an application. */
export type ClientOutcome = SecurityLogInput & { readonly applicationId: string };

export interface SecurityLogWriterOptions {
  readonly pool: Pool;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly delayMilliseconds?: number;
  /**
   * How long entries wait at most, in seconds, while the database is unavailable. Older ones are dropped and counted, except
   * that 50,000 entries always find room.
   */
  readonly bufferSeconds?: number;
  /** Maximum number of waiting entries, whatever their age. */
  readonly maxBuffered?: number;
  /** Maximum number of entries in a transaction. */
  readonly largestBatch?: number;
  /** Whether to omit entries that only repeat another one of the same hour; they are counted. */
  readonly thinned?: boolean;
  /** Called with the applications whose logs have new entries, and the developers who have new events. */
  readonly onWritten?: (topics: ReadonlySet<string>) => void;
}

/** So many entries are kept whatever their age. */
const alwaysBuffered = 50_000;
/** The pause between attempts while the database takes no entries, in milliseconds. */
const retryMilliseconds = 1_000;
/** How long `close` waits for locked rows, in milliseconds. */
const longestLock = 10_000;

export function createSecurityLogWriter(options: SecurityLogWriterOptions): SecurityLogWriter {
  const {
    pool,
    log,
    clock = systemClock,
    delayMilliseconds = 200,
    bufferSeconds = 60,
    maxBuffered = 300_000,
    largestBatch = 1_000,
    thinned = false,
    onWritten,
  } = options;
  const told = createToldRefusals();
  // Its memory is reserved at once, so only where it is used.
  const repeats = thinned ? createRepeats() : null;
  const uses = collectUses(maxBuffered);
  /** Entries of writes that failed: they may be stored all the same. */
  const tried = new WeakSet<SecurityLogRow>();
  const failures = createFailureLog();
  const overflows = createFailureLog();
  /** Number of dropped entries that the log does not have yet: during an outage, some are dropped every second. */
  let unreported = 0;
  let failedInARow = 0;
  let entries: SecurityLogRow[] = [];
  /** What is being written. */
  let batch: readonly SecurityLogRow[] = [];
  let used: Uses = noUses;
  /** Applications that another transaction has locked. Their entries wait, and do not delay others. */
  let locked: ReadonlySet<string> = new Set();
  const heldUp = createHeldUpEntries();
  /** Whether something waited for a lock at the end of the last round. */
  let isHeldUp = false;
  /** Whether last uses were not written in this round, because their licenses or devices are locked. */
  let areUsesSkipped = false;
  let shed = 0;
  let written = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let closed = false;

  /** True if ids restarted while entries waited, because the clock was set back; until those entries are written. */
  let isOutOfOrder = false;

  const schedule = () => {
    if (closed) return;
    timer ??= setTimeout(() => void flush(), failedInARow > 1 ? retryMilliseconds : delayMilliseconds);
  };

  /** Number of entries at the front that have no room, or have waited for too long. */
  const countExcess = (): number => {
    const held = heldUp.rows.length;
    const all = held + entries.length;
    let excess = Math.max(0, all - maxBuffered);
    const oldest = clock.now() - bufferSeconds * 1000;
    const expendable = all - Math.min(alwaysBuffered, maxBuffered);
    const timeOf = (place: number) =>
      (place < held ? heldUp.rows[place] : entries[place - held])?.createdAt.getTime() ?? oldest;
    while (excess < expendable && timeOf(excess) < oldest) excess += 1;
    return excess;
  };

  const trim = () => {
    const excess = countExcess();
    if (excess === 0) return;
    const fromHeldUp = Math.min(excess, heldUp.rows.length);
    heldUp.drop(fromHeldUp);
    entries.splice(0, excess - fromHeldUp);
    // The next repeat of a dropped entry is stored instead.
    repeats?.forget();
    shed += excess;
    unreported += excess;
    overflows.failed(reportShed);
  };

  const reportShed = () => {
    if (unreported === 0) return;
    log.warn({ shed, excess: unreported }, 'security log buffer is full: dropped the oldest entries');
    unreported = 0;
  };

  const isOfLocked = ({ applicationId }: Pick<SecurityLogRow, 'applicationId'>): boolean =>
    applicationId !== null && locked.has(applicationId);

  /** Takes the entries of locked applications out of the batch. */
  const holdUpLocked = (): void => {
    if (locked.size === 0) return;
    heldUp.add(batch.filter(isOfLocked));
    batch = batch.filter((row) => !isOfLocked(row));
  };

  const writeTaken = async (): Promise<void> => {
    if (batch.length === 0 && countUses(used) === 0) return;
    const mayBeStored = batch.some((row) => tried.has(row));
    const { dropped, skipped } = await writeWhatCanBe(
      { entries: batch, uses: used, mayBeStored, thinned },
      { pool, log, told },
    );
    shed += dropped;
    written += batch.length - dropped;
    uses.putBack({ ...skipped, counts: [] });
    areUsesSkipped ||= countLastUses(skipped) > 0;
  };

  /**
   * Writes the next batch. If an application is locked, what concerns it is left for later: a deletion locks its application
   * for long, and the entries and counts of others must not wait for that.
   */
  const writeNext = async (): Promise<void> => {
    batch = entries.slice(0, largestBatch);
    entries = entries.slice(largestBatch);
    holdUpLocked();
    // Once a lock has held up uses, the other batches go without them.
    used = areUsesSkipped ? noUses : uses.take(locked);
    const topics = topicsOf(batch, told);
    try {
      await writeTaken();
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      // A part of it may be stored, if the database has refused the whole.
      for (const row of batch) tried.add(row);
      const concerned = [...batch, ...used.counts.flatMap(({ counts }) => counts)];
      uses.putBack(used);
      used = noUses;
      locked = await findLocked(pool, [...locked, ...concerned.map(({ applicationId }) => applicationId)]);
      holdUpLocked();
      used = uses.take(locked);
      await writeTaken();
    }
    batch = [];
    used = noUses;
    if (topics.size > 0) onWritten?.(topics);
  };

  const noteSuccess = (): void => {
    if (failedInARow > 0) {
      reportShed();
      overflows.succeeded();
    }
    failedInARow = 0;
    failures.succeeded();
  };

  const noteFailure = (error: unknown): void => {
    for (const row of batch) tried.add(row);
    entries = [...batch, ...entries];
    batch = [];
    // After a lock timeout, nothing of them is stored.
    uses.putBack(isLockTimeout(error) ? used : ambiguous(used));
    used = noUses;
    failedInARow += 1;
    failures.failed(() =>
      log.error({ err: error, waiting: entries.length }, 'security log could not be written; will try again'),
    );
  };

  /** Writes the entries that wait now. Later ones wait for the next round; otherwise no round would end under load. */
  const drain = async (): Promise<void> => {
    areUsesSkipped = false;
    let isLockedElsewhere = false;
    try {
      locked = await findLocked(pool, locked);
      const released = heldUp.release(locked);
      if (released.length > 0) entries = [...released, ...entries].toSorted(byId);
      const batches = Math.max(Math.ceil(entries.length / largestBatch), Math.min(1, uses.size));
      for (let done = 0; done < batches; done += 1) {
        await writeNext();
        noteSuccess();
      }
    } catch (error) {
      noteFailure(error);
      isLockedElsewhere = isLockTimeout(error);
    }
    isHeldUp =
      isLockedElsewhere || heldUp.rows.length > 0 || areUsesSkipped || (locked.size > 0 && uses.size > 0);
    trim();
  };

  const countWaiting = (): number => heldUp.rows.length + batch.length + entries.length;
  const isWaiting = (): boolean => countWaiting() > 0 || uses.size > 0;

  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    // Waits for the current write and then writes the rest, so that everything added before the call is written.
    const previous = writing;
    const current = (async () => {
      await previous;
      await drain();
    })();
    writing = current;
    await current;
    if (writing === current) writing = undefined;
    if (isWaiting()) schedule();
  };

  return {
    add(client, input) {
      const createdAt = new Date(clock.now());
      const id = newId();
      const before = entries.at(-1) ?? batch.at(-1);
      if (before === undefined) isOutOfOrder = false;
      else if (id < before.id) isOutOfOrder = true;
      schedule();
      if (input.event === 'license_validated') uses.validated(input, input.code ?? 'UNKNOWN', id);
      const entry = { ...input, id, ip: client.ip, country: client.country, createdAt };
      if (repeats?.isRepeat(entry)) return;
      entries.push(entry);
      // Removing from the front of an array takes time in proportion to its length, so it is done a tenth at a time.
      if (countWaiting() > maxBuffered * 1.1) trim();
    },
    seen(licenseId, ip) {
      if (ip === null) return;
      uses.seen(licenseId, ip);
      schedule();
    },
    deviceSeen(deviceId, use) {
      uses.deviceSeen(deviceId, use);
      schedule();
    },
    flush,
    get oldestWaiting() {
      const first = (batch[0] ?? entries[0])?.id;
      if (first === undefined) return heldUp.oldest;
      const id = isOutOfOrder ? lowestIdOf([...batch, ...entries], first) : first;
      return [...heldUp.oldest, { applicationId: null, id }];
    },
    get waiting() {
      return countWaiting();
    },
    get written() {
      return written;
    },
    get shed() {
      return shed;
    },
    async close(deadline = performance.now() + longestLock) {
      closed = true;
      await flush();
      // Counts that came after a failed write are written in the round after that of its counts.
      while ((isHeldUp || (failedInARow === 0 && uses.size > 0)) && performance.now() < deadline) {
        if (isHeldUp) await sleep(delayMilliseconds);
        await flush();
      }
      reportShed();
      if (!isWaiting()) return;
      log.error({ lost: countWaiting(), lostUses: uses.size }, 'security log entries were lost at shutdown');
      throw new Error('The security log could not be written at shutdown');
    },
  };
}

const byId = (one: SecurityLogRow, other: SecurityLogRow): number => (one.id < other.id ? -1 : 1);

const lowestIdOf = (rows: readonly SecurityLogRow[], first: string): string =>
  rows.reduce((low, { id }) => (id < low ? id : low), first);

/** The applications of entries, and the developers who have new events. */
function topicsOf(entries: readonly SecurityLogRow[], told: ToldRefusals): ReadonlySet<string> {
  const withEvents = [...entries.filter(isFirstUse), ...told.eventsOf(entries)];
  return new Set([
    ...entries.flatMap(({ applicationId }) => applicationId ?? []),
    ...withEvents.map(({ developerId }) => developerId),
  ]);
}

/** Whether the event of a first use or of a binding is already stored, and nobody has been woken for it. */
const isFirstUse = ({ metadata }: SecurityLogRow): boolean =>
  metadata?.activated === true || metadata?.bound === true;
