import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isLockName } from './lock-name.ts';

/*
 * How fencing works: no process changes the files of a directory that another process has taken over.
 *
 * 1. A lock is held as long as its file exists. A process that takes over a silent holder's lock first removes the file,
 *    then waits for `graceMilliseconds` before it reads or writes a database file.
 * 2. A holder works under a lease. A beat records the time, touches the file, and then reads it. If the file still exists
 *    with this process's text, a lease of `leaseMilliseconds` begins at the recorded time. So a lease that began before
 *    the file was removed ends, by the holder's own clock, before the grace period does, and no lease begins after the
 *    removal. A holder that beats late loses its lock but no data. Watching for beats before the removal only avoids
 *    taking over a living holder.
 * 3. Before each statement, each change of a file, and each acknowledgement of a commit, the database thread checks the
 *    lease, and beats itself if the lease has ended. Both clocks count: the monotonic clock, which cannot be set, and the
 *    wall clock, which continues while the machine is suspended. A step of the wall clock costs one beat.
 * 4. Before each change and each acknowledgement, it also reads the file. This detects a takeover while a virtual machine
 *    was paused together with both clocks, and a lock that was removed by hand.
 *
 * Remaining risk: a thread that is suspended between its check and the following system call executes that one call when
 * it resumes, and a file system cannot refuse it. Nothing is acknowledged after it, but one page of the other process's
 * files may be overwritten. On a network file system, the holder's kernel may also write back later what the holder wrote
 * in time, and the check of 4 may be answered from the kernel's cache for some seconds; there, only the lease protects.
 * Earlier versions have no lease.
 */

/** How long a lease lasts after its beat. */
export const leaseMilliseconds = 5_000;
/** How long to wait after removing a lock: a lease, and the duration of a write that began just before its end. */
export const graceMilliseconds = 8_000;
/** The interval of beats. */
export const beatMilliseconds = 2_000;

/** This process no longer holds its data directory. It must not write or answer anything any more. */
export class LockLostError extends Error {
  override readonly name = 'LockLostError';
}

/** The disk does not show whether this process holds the lock. It must not write or answer anything until it does. */
export class LockUnconfirmedError extends Error {
  override readonly name = 'LockUnconfirmedError';
}

/** A lock of this process, in the form that its threads share. */
export interface LockTicket {
  readonly path: string;
  /** The unique text that this process wrote into the file. */
  readonly text: string;
  /** The start of the latest lease: in nanoseconds of the monotonic clock, and in milliseconds of the wall clock. */
  readonly lease: BigInt64Array<SharedArrayBuffer>;
}

export const ticketOf = (path: string, text: string): LockTicket => ({
  path,
  text,
  lease: new BigInt64Array(new SharedArrayBuffer(16)),
});

/** A lock that this process has taken, for use in any of its threads. All methods block on disk I/O. */
export class HeldLock {
  readonly #ticket: LockTicket;

  constructor(ticket: LockTicket) {
    this.#ticket = ticket;
  }

  /**
   * Shows other processes that this one is alive, and begins a lease.
   * @throws {LockLostError | LockUnconfirmedError}
   */
  beat(): void {
    const { path, lease } = this.#ticket;
    const monotonic = process.hrtime.bigint();
    const wall = Date.now();
    try {
      utimesSync(path, wall / 1000, wall / 1000);
    } catch {
      // The disk is full or read-only. A missing file is detected below.
    }
    this.#checkFile();
    Atomics.store(lease, 0, monotonic);
    Atomics.store(lease, 1, BigInt(wall));
  }

  /**
   * Returns during the lease, and begins another after its end.
   * @throws {LockLostError | LockUnconfirmedError}
   */
  assertLease(): void {
    const { lease } = this.#ticket;
    const monotonic = process.hrtime.bigint() - Atomics.load(lease, 0);
    const wall = Date.now() - Number(Atomics.load(lease, 1));
    const lasts = monotonic < leaseMilliseconds * 1e6 && wall >= 0 && wall < leaseMilliseconds;
    if (!lasts) this.beat();
  }

  /**
   * Like `assertLease`, and checks that the lock file still exists.
   * @throws {LockLostError | LockUnconfirmedError}
   */
  assertHeld(): void {
    this.assertLease();
    this.#checkFile();
  }

  /** Compares the text: another process's file may have the same number, and even the same inode. */
  #checkFile(): void {
    const { path, text } = this.#ticket;
    let found: string | null;
    try {
      found = readFileSync(path, 'utf8');
    } catch (error) {
      // Without a free file descriptor, the existence of the file has to suffice.
      if (isShortOfFiles(error) && existsSync(path)) return;
      if (!isGone(error)) throw unconfirmed(path, error);
      found = null;
    }
    if (found !== text) throw new LockLostError(describeLoss(path));
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
/** ESTALE: a file on a network file system that another machine has removed. */
const isGone = (error: unknown): boolean => ['ENOENT', 'ENOTDIR', 'ESTALE'].includes(String(codeOf(error)));
const isShortOfFiles = (error: unknown): boolean => ['EMFILE', 'ENFILE'].includes(String(codeOf(error)));

const ending = 'This process ends at once. Acknowledged changes are stored; others may be missing.';

function unconfirmed(path: string, error: unknown): LockUnconfirmedError {
  const reason = error instanceof Error ? error.message : String(error);
  return new LockUnconfirmedError(
    `The lock ${path} cannot be read (${reason}), so another process may have taken the data directory over. ${ending}`,
    { cause: error },
  );
}

function describeLoss(path: string): string {
  const directory = dirname(path);
  let others: readonly string[] = [];
  try {
    others = readdirSync(directory).filter((name) => isLockName(name) && name !== basename(path));
  } catch {
    // Nothing is known about other locks.
  }
  if (others.length > 0) {
    return (
      `Another process has taken over the data directory ${directory} (see ${others.join(', ')}), because this process ` +
      `did not run for some seconds: it was stopped, or its machine was suspended. ${ending}`
    );
  }
  return (
    `The lock ${path} no longer exists: another process took over the data directory and has ended since, or the file ` +
    `was removed by hand. ${ending}`
  );
}
