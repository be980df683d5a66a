import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import type { ClientOrigin } from '../client-origin.ts';
import type { SecurityLogInput, SecurityLogRow } from './entry.ts';
import { createToldRefusals, type ToldRefusals } from './refusals.ts';
import { countUses, type DeviceUse, noUses, putBack, type Uses } from './uses.ts';
import { writeAroundLocks } from './write-around-locks.ts';
import { writeBatch } from './write-batch.ts';

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
  /** The lowest id of the entries that are not in the database yet, in the current batch or in the queue. */
  readonly oldestWaiting: string | null;
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
  /** Maximum number of waiting entries; beyond it, the oldest are dropped and counted. */
  readonly maxBuffered?: number;
  /** Called with the applications whose logs have new entries, and the developers who have new events. */
  readonly onWritten?: (topics: ReadonlySet<string>) => void;
}

const largestBatch = 1_000;
/** How long `close` waits for locked rows, in milliseconds. */
const longestLock = 10_000;

export function createSecurityLogWriter(options: SecurityLogWriterOptions): SecurityLogWriter {
  const {
    pool,
    log,
    clock = systemClock,
    delayMilliseconds = 200,
    maxBuffered = 50_000,
    onWritten,
  } = options;
  const told = createToldRefusals();
  let entries: SecurityLogRow[] = [];
  let batch: readonly SecurityLogRow[] = [];
  /** Entries of developers whose rows are locked. They are tried again and do not delay other entries. */
  let heldUp: SecurityLogRow[] = [];
  let isHeldUp = false;
  let uses = noUses();
  let shed = 0;
  let written = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let closed = false;

  /** True if ids restarted while entries waited, because the clock was set back; until those entries are written. */
  let isOutOfOrder = false;
  const waitingRows = () => [...heldUp, ...batch, ...entries];

  const schedule = () => {
    if (closed) return;
    timer ??= setTimeout(() => void flush(), delayMilliseconds);
  };

  const trim = () => {
    const excess = entries.length - maxBuffered;
    if (excess <= 0) return;
    entries.splice(0, excess);
    shed += excess;
    log.warn({ shed, excess }, 'security log buffer is full: dropped the oldest entries');
  };

  /** Writes the entries that wait now. Later ones wait for the next round; otherwise no round would end under load. */
  const drain = async (): Promise<void> => {
    const locked = new Set<string>();
    const heldUpUses = noUses();
    const batches = Math.max(Math.ceil(entries.length / largestBatch), Math.min(1, countUses(uses)));
    for (let done = 0; done < batches; done += 1) {
      batch = entries.slice(0, largestBatch);
      entries = entries.slice(largestBatch);
      const used = uses;
      uses = noUses();
      const developers = [...batch.filter(isFirstUse), ...told.eventsOf(batch)].map(
        ({ developerId }) => developerId,
      );
      try {
        const write = (rows: readonly SecurityLogRow[], usesOfThem: Uses) =>
          writeWhatCanBe(pool, rows, usesOfThem, log, told);
        const outcome = await writeAroundLocks(write, batch, used, locked);
        shed += outcome.dropped;
        written += batch.length - outcome.dropped - outcome.heldUp.length;
        heldUp.push(...outcome.heldUp);
        putBack(heldUpUses, outcome.heldUpUses);
        const topics = new Set(batch.flatMap(({ applicationId }) => applicationId ?? []));
        for (const id of developers) topics.add(id);
        batch = [];
        onWritten?.(topics);
      } catch (error) {
        entries = [...batch, ...entries];
        batch = [];
        putBack(uses, used);
        log.error(
          { err: error, waiting: entries.length },
          'security log could not be written; will try again',
        );
        break;
      }
    }
    isHeldUp = heldUp.length + countUses(heldUpUses) > 0;
    entries = [...heldUp, ...entries];
    heldUp = [];
    putBack(uses, heldUpUses);
    trim();
  };

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
    if (entries.length > 0 || countUses(uses) > 0) schedule();
  };

  return {
    add(client, input) {
      const createdAt = new Date(clock.now());
      const id = newId();
      const before = entries.at(-1) ?? batch.at(-1) ?? heldUp.at(-1);
      if (before === undefined) isOutOfOrder = false;
      else if (id < before.id) isOutOfOrder = true;
      entries.push({ ...input, id, ip: client.ip, country: client.country, createdAt });
      // Removing from the front of an array takes time in proportion to its length, so it is done a tenth at a time.
      if (entries.length > maxBuffered * 1.1) trim();
      schedule();
    },
    seen(licenseId, ip) {
      if (ip === null) return;
      const { addresses } = uses;
      if (addresses.size < maxBuffered || addresses.has(licenseId)) addresses.set(licenseId, ip);
      schedule();
    },
    deviceSeen(deviceId, use) {
      const { devices } = uses;
      if (devices.size < maxBuffered || devices.has(deviceId)) devices.set(deviceId, use);
      schedule();
    },
    flush,
    get oldestWaiting() {
      const first = (heldUp[0] ?? batch[0] ?? entries[0])?.id ?? null;
      if (!isOutOfOrder) return first;
      return waitingRows().reduce<string | null>(
        (low, { id }) => (low === null || id < low ? id : low),
        first,
      );
    },
    get waiting() {
      return entries.length + batch.length + heldUp.length;
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
      while (isHeldUp && performance.now() < deadline) {
        await sleep(delayMilliseconds);
        await flush();
      }
      if (entries.length === 0 && countUses(uses) === 0) return;
      log.error(
        { lost: entries.length, lostUses: countUses(uses) },
        'security log entries were lost at shutdown',
      );
      throw new Error('The security log could not be written at shutdown');
    },
  };
}

/**
 * Writes a batch. If the database refuses its data, each half is tried separately, so that only the entries that cannot
 * be stored are dropped, and the others are not delayed.
 * @returns the number of dropped entries
 */
async function writeWhatCanBe(
  pool: Pool,
  batch: readonly SecurityLogRow[],
  uses: Uses,
  log: Logger,
  told: ToldRefusals,
): Promise<number> {
  try {
    await writeBatch(pool, batch, uses.addresses, uses.devices, told);
    return 0;
  } catch (error) {
    if (!isDataRefused(error) || batch.length === 0) throw error;
    if (batch.length === 1) {
      log.error({ err: error, event: batch[0]?.event }, 'dropped a security log entry that cannot be stored');
      return 1 + (await writeWhatCanBe(pool, [], uses, log, told));
    }
    const middle = Math.ceil(batch.length / 2);
    const dropped = await writeWhatCanBe(pool, batch.slice(0, middle), noUses(), log, told);
    return dropped + (await writeWhatCanBe(pool, batch.slice(middle), uses, log, told));
  }
}

/** Whether the event of a first use or of a binding is already stored, and nobody has been woken for it. */
const isFirstUse = ({ metadata }: SecurityLogRow): boolean =>
  metadata?.activated === true || metadata?.bound === true;

/** PostgreSQL's classes 22 (data exception) and 23 (integrity constraint violation). */
const isDataRefused = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /^2[23]/.test(error.code);
