import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { isLockName } from './lock-name.ts';

/*
 * Why no process changes the files of a directory that another one has taken over ("fencing").
 *
 * 1. A lock is held as long as its file is there. A process that takes over a silent holder's lock first removes the
 *    file and then waits for `graceMilliseconds` before it reads or writes a database file.
 * 2. A holder works on a lease. A beat notes the time, touches the file, and then reads it; only when the file is still
 *    there with this process's text does the lease begin, at the time that was noted. It lasts `leaseMilliseconds`. So a
 *    lease that began before the file was removed ends, by the holder's own clock, before the grace does, and after the
 *    removal none begins. A holder that beats late loses its lock, and never its data: the watch for beats before a
 *    removal only spares holders that live.
 * 3. Before each statement, each change of a file, and each acknowledgement of a commit, the database's thread looks
 *    at the lease, and beats by itself when the lease is over. Both clocks count: the monotonic one, which cannot be set,
 *    and the wall clock, which goes on while a machine is suspended. A step of the wall clock costs one beat.
 * 4. Before each change and each acknowledgement it also reads the file. That notices a takeover in a virtual machine
 *    that was paused with both its clocks, and a lock that was removed by hand.
 *
 * What remains. A thread that is stopped between its look and the system call right behind it carries that one call out
 * when it wakes; a file system has no way to refuse it. Nothing is acknowledged after it, but one page of the other's
 * files may be overwritten. On a network file system a holder's kernel may also write back later what the holder wrote
 * in time, and the look of 4 may be answered from the kernel's memory for some seconds; there the lease alone protects.
 * A holder of a version before this one knows no lease.
 */

/** How long a beat is good for. */
export const leaseMilliseconds = 5_000;
/** How long a taker waits after it has removed a lock: a lease, and what a write may take that began just within one. */
export const graceMilliseconds = 8_000;
/** How often a holder beats. */
export const beatMilliseconds = 2_000;

/** This process holds its data directory no longer. It must write nothing and answer nothing more. */
export class LockLostError extends Error {
  override readonly name = 'LockLostError';
}

/** The disk does not say whether it does. It must write nothing and answer nothing until it knows. */
export class LockUnconfirmedError extends Error {
  override readonly name = 'LockUnconfirmedError';
}

/** A lock of this process, as its threads hand it to each other. */
export interface LockTicket {
  readonly path: string;
  /** What this process wrote into it, which no other writes. */
  readonly text: string;
  /** When the latest lease began: in nanoseconds of the monotonic clock, and in milliseconds of the wall clock. */
  readonly lease: BigInt64Array<SharedArrayBuffer>;
}

export const ticketOf = (path: string, text: string): LockTicket => ({
  path,
  text,
  lease: new BigInt64Array(new SharedArrayBuffer(16)),
});

/** A lock that this process has taken, as one of its threads sees it. Everything here waits for the disk. */
export class HeldLock {
  readonly #ticket: LockTicket;

  constructor(ticket: LockTicket) {
    this.#ticket = ticket;
  }

  /**
   * Shows others that this process lives, and begins a lease.
   * @throws {LockLostError | LockUnconfirmedError}
   */
  beat(): void {
    const { path, lease } = this.#ticket;
    const monotonic = process.hrtime.bigint();
    const wall = Date.now();
    try {
      utimesSync(path, wall / 1000, wall / 1000);
    } catch {
      // A full or read-only disk; a file that is gone is noticed below.
    }
    this.#look();
    Atomics.store(lease, 0, monotonic);
    Atomics.store(lease, 1, BigInt(wall));
  }

  /**
   * Returns while the lease lasts, and begins another when it is over.
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
   * The same, and the lock's file is still there.
   * @throws {LockLostError | LockUnconfirmedError}
   */
  assertHeld(): void {
    this.assertLease();
    this.#look();
  }

  /** By its text: another's file may come by the same number, and even the same inode. */
  #look(): void {
    const { path, text } = this.#ticket;
    let found: string | null;
    try {
      found = readFileSync(path, 'utf8');
    } catch (error) {
      // Without a descriptor left to read it, that there is one has to do.
      if (isShortOfFiles(error) && existsSync(path)) return;
      if (!isGone(error)) throw unconfirmed(path, error);
      found = null;
    }
    if (found !== text) throw new LockLostError(describeLoss(path));
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
/** ESTALE: a network file system's word for a file that another machine has removed. */
const isGone = (error: unknown): boolean => ['ENOENT', 'ENOTDIR', 'ESTALE'].includes(String(codeOf(error)));
const isShortOfFiles = (error: unknown): boolean => ['EMFILE', 'ENFILE'].includes(String(codeOf(error)));

const ending = 'This one ends at once. What it has acknowledged is stored; what it has not may be missing.';

function unconfirmed(path: string, error: unknown): LockUnconfirmedError {
  const reason = error instanceof Error ? error.message : String(error);
  return new LockUnconfirmedError(
    `The lock ${path} cannot be read (${reason}), so nothing says that no other process has taken the data directory over. ${ending}`,
    { cause: error },
  );
}

function describeLoss(path: string): string {
  const directory = dirname(path);
  let others: readonly string[] = [];
  try {
    others = readdirSync(directory).filter((name) => isLockName(name) && name !== basename(path));
  } catch {
    // Then nothing is known of others.
  }
  if (others.length > 0) {
    return (
      `Another process has taken over the data directory ${directory} (${others.join(', ')} names it): this one stood ` +
      `still for some seconds, as a process does that is stopped or a machine that is suspended. ${ending}`
    );
  }
  return (
    `The lock ${path} is gone: another process has taken over the data directory and ended since, or the file was ` +
    `removed by hand. ${ending}`
  );
}
