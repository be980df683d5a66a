import type { Pool } from 'pg';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/log.ts';
import type { ClientOrigin } from '../context.ts';
import type { SecurityLogInput, SecurityLogRow } from './entry.ts';
import { writeBatch } from './write-batch.ts';

/** Takes the outcomes of client requests and writes them behind, so that no customer waits for a log. */
export interface SecurityLogWriter {
  /** Notes an outcome; it is in the database at most 250 ms later. */
  add(client: ClientOrigin, input: SecurityLogInput): void;
  /** Notes the address a license was last used from, with the same delay. */
  seen(licenseId: string, ip: string): void;
  /** Writes all that is waiting. */
  flush(): Promise<void>;
  /** Entries that were dropped because the buffer was full. */
  readonly shed: number;
  /** Writes all that is waiting and stops. */
  close(): Promise<void>;
}

export interface SecurityLogWriterOptions {
  readonly pool: Pool;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly delayMilliseconds?: number;
  /** Entries kept while the database is slow; beyond it the oldest go, and are counted. */
  readonly maxBuffered?: number;
}

const largestBatch = 1_000;

export function createSecurityLogWriter(options: SecurityLogWriterOptions): SecurityLogWriter {
  const { pool, log, clock = systemClock, delayMilliseconds = 200, maxBuffered = 50_000 } = options;
  let entries: SecurityLogRow[] = [];
  let lastIps = new Map<string, string>();
  let shed = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let closed = false;

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

  const drain = async (): Promise<void> => {
    while (entries.length > 0 || lastIps.size > 0) {
      const batch = entries.slice(0, largestBatch);
      entries = entries.slice(largestBatch);
      const addresses = lastIps;
      lastIps = new Map();
      try {
        await writeBatch(pool, batch, addresses);
      } catch (error) {
        entries = [...batch, ...entries];
        for (const [id, ip] of addresses) if (!lastIps.has(id)) lastIps.set(id, ip);
        trim();
        log.error(
          { err: error, waiting: entries.length },
          'security log could not be written; will try again',
        );
        return;
      }
    }
  };

  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    // Whoever flushes waits for what is under way and then for the rest: nothing added before the call is left out.
    const previous = writing;
    const current = (async () => {
      await previous;
      await drain();
    })();
    writing = current;
    await current;
    if (writing === current) writing = undefined;
    if (entries.length > 0 || lastIps.size > 0) schedule();
  };

  return {
    add(client, input) {
      const createdAt = new Date(clock.now());
      entries.push({ ...input, id: newId(), ip: client.ip, country: client.country, createdAt });
      // Cutting the front of an array costs its length, so let a tenth gather first.
      if (entries.length > maxBuffered * 1.1) trim();
      schedule();
    },
    seen(licenseId, ip) {
      if (lastIps.size < maxBuffered || lastIps.has(licenseId)) lastIps.set(licenseId, ip);
      schedule();
    },
    flush,
    get shed() {
      return shed;
    },
    async close() {
      closed = true;
      await flush();
      if (entries.length > 0)
        log.error({ lost: entries.length }, 'security log entries were lost at shutdown');
    },
  };
}
