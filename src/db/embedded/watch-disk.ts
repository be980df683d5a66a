import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import type { Logger } from '../../lib/log.ts';
import { isRefusedByDisk } from '../errors.ts';
import { inTransaction } from '../in-transaction.ts';
import { onStatementError } from '../statement-errors.ts';

/** The interval of test writes, in milliseconds. */
const retryMilliseconds = 1_000;
/** The size of the file that tests whether there is space, in bytes. */
const sampleBytes = 1024 * 1024;

export interface DiskWatch {
  /** True from a rejected write until a test write succeeds. */
  isRefusing(): boolean;
  /** Waits for the current attempt. */
  close(): Promise<void>;
}

export interface DiskWatchOptions {
  /** The data directory. */
  readonly directory: string;
  readonly pool: pg.Pool;
  readonly log: Logger;
  /** Called when the engine and the disk no longer agree on which files there are. */
  readonly onFatal: (error: Error) => void;
}

/**
 * Notices when the engine reports that its disk rejected something. From then on it tests the disk itself until a write
 * succeeds: clients may send no writes, and a write that fits into existing pages proves nothing.
 */
export function watchDisk({ directory, pool, log, onFatal }: DiskWatchOptions): DiskWatch {
  let isRefusing = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let trying: Promise<void> = Promise.resolve();

  const tryLater = (): void => {
    timer = setTimeout(() => {
      trying = tryNow();
    }, retryMilliseconds);
    timer.unref();
  };
  const tryNow = async (): Promise<void> => {
    try {
      await writeFile(directory);
      await writeRows(pool);
      isRefusing = false;
      log.info('The disk of the embedded database accepts writes again');
    } catch (error) {
      log.debug({ err: error }, 'The disk of the embedded database still rejects writes');
      if (!isClosed) tryLater();
    }
  };

  onStatementError(pool, ({ code = '', message }) => {
    // 58P02: the engine creates a file that already exists although it did not find it. Later files may fail the same way.
    if (code === '58P02') return onFatal(new Error(`${message}. A restart reads the files as they are.`));
    if (isRefusing || isClosed || !isRefusedByDisk(code, message)) return;
    isRefusing = true;
    log.error(
      { reason: message },
      'The disk of the embedded database rejects writes, so changes are refused until it accepts them. Free some ' +
        'space or delete files there, or remount it as writable',
    );
    tryLater();
  });

  return {
    isRefusing: () => isRefusing,
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await trying;
    },
  };
}

/**
 * Runs before the engine's test, because the engine writes its log first, and stops if the log has no space. If the process
 * ends during the test, the next start removes the file by its name.
 */
async function writeFile(directory: string): Promise<void> {
  const path = join(directory, `postgres.new-${randomUUID()}`);
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(Buffer.alloc(sampleBytes));
    await file.sync();
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

/** Creates files and fills pages as the engine does, and commits. Nothing is left of it afterwards. */
async function writeRows(pool: pg.Pool): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query('CREATE UNLOGGED TABLE write_sample (filler text)');
    await client.query(`INSERT INTO write_sample SELECT repeat('x', 1900) FROM generate_series(1, 40)`);
    await client.query('DROP TABLE write_sample');
  });
}
