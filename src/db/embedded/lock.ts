import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseStartError } from '../start-error.ts';
import { graceMilliseconds, HeldLock, LockLostError, type LockTicket, ticketOf } from './held-lock.ts';
import {
  beats,
  createExclusively,
  lockNumbers,
  modifiedAt,
  ownerOf,
  pathOf,
  removeStale,
} from './lock-file.ts';
import { lifeOf, type Owner, thisProcess } from './owner.ts';
import { spawnThread } from './spawn.ts';

/*
 * Two processes on one directory silently destroy the database (design §3), so a lock file names the owner.
 * Lock files are numbered. A starting process creates the number after the highest one exclusively, so only one of two
 * processes that find the same stale lock succeeds. Then it checks all locks again: if two processes created different
 * locks, at least one of them sees the other's, because each checks after it has created its own.
 *
 * If the owner's pid is meaningful here, it tells whether the owner is alive. Otherwise its heartbeats do. An owner
 * without heartbeats is taken over, although it may only be suspended; held-lock.ts explains why it does not write
 * anything when it resumes.
 */

/** How long to watch for heartbeats of a holder whose pid is not meaningful here: five intervals. */
export const watchMilliseconds = 10_000;

export interface Lock {
  /** Passed to the thread that changes the files. */
  readonly ticket: LockTicket;
  /** @throws {LockLostError | LockUnconfirmedError} unless this process is known to hold the lock */
  assertHeld(): void;
  release(): Promise<void>;
}

export interface LockOptions {
  /** Called once when another process has taken the directory over. This process must end. */
  readonly onLost?: (error: LockLostError) => void;
  /** Called with the reason for a wait of several seconds. */
  readonly onWait?: (message: string) => void;
  readonly watchMilliseconds?: number;
  readonly graceMilliseconds?: number;
}

/**
 * Locks a data directory for this process. A lock without heartbeats, whose owner's pid is not meaningful here, is taken
 * over, which takes about 20 seconds.
 * @throws {DatabaseStartError} `locked` when another process holds the lock
 */
export async function takeLock(
  directory: string,
  socketDirectory: string,
  options: LockOptions = {},
): Promise<Lock> {
  const look = { watch: options.watchMilliseconds ?? watchMilliseconds, onWait: options.onWait };
  const found = await lockNumbers(directory);
  const before = new Map<number, Stale>();
  for (const number of found) before.set(number, await staleOrRefused(directory, number, look));
  const mine = Math.max(0, ...found) + 1;
  const path = pathOf(directory, mine);
  const text = await createExclusively(path, thisProcess(socketDirectory));
  if (text === null) {
    await staleOrRefused(directory, mine, look);
    throw inUse(directory, 'another process that is starting');
  }
  const lock = hold(ticketOf(path, text), options.onLost);
  try {
    for (const number of await lockNumbers(directory)) {
      if (number === mine) continue;
      const seen = before.get(number);
      // A lock that was watched before and has not been touched since need not be watched again.
      const isUnchanged =
        seen !== undefined && seen.modifiedAt === (await modifiedAt(pathOf(directory, number)));
      const { isSilent } = isUnchanged ? seen : await staleOrRefused(directory, number, look);
      if (isSilent) await writeFile(graceMark(directory), '');
      await removeStale(directory, number);
    }
    await passGrace(directory, options);
    lock.assertHeld();
  } catch (error) {
    await lock.release();
    throw error instanceof LockLostError ? inUse(directory, 'another process that has just taken it') : error;
  }
  return lock;
}

/**
 * This file exists from just before a silent holder's lock is removed until the grace period ends. If the process that
 * takes over is killed in between, the next one waits too.
 */
const graceMark = (directory: string): string => join(directory, 'postgres.lock-grace');

async function passGrace(directory: string, options: LockOptions): Promise<void> {
  if (!existsSync(graceMark(directory))) return;
  const milliseconds = options.graceMilliseconds ?? graceMilliseconds;
  options.onWait?.(
    `No process shows activity in the data directory ${directory}: taking it over in ${milliseconds / 1000} s, when a ` +
      'process that was only suspended can no longer write there',
  );
  await sleep(milliseconds);
  await rm(graceMark(directory), { force: true });
}

function hold(ticket: LockTicket, onLost: LockOptions['onLost']): Lock {
  const held = new HeldLock(ticket);
  const heart = spawnThread('heartbeat', ticket);
  heart.unref();
  let isOver = false;
  const lost = (error: LockLostError) => {
    if (isOver) return;
    isOver = true;
    onLost?.(error);
  };
  heart.once('message', (message: string) => lost(new LockLostError(message)));
  heart.once('error', (cause) => {
    lost(new LockLostError('The thread that keeps the lock of the data directory failed.', { cause }));
  });
  heart.once('exit', () =>
    lost(new LockLostError('The thread that keeps the lock of the data directory ended.')),
  );
  return {
    ticket,
    assertHeld: () => held.assertHeld(),
    release: async () => {
      isOver = true;
      await heart.terminate();
      // Another process's lock may have the same name by now.
      if (textOf(ticket.path) === ticket.text) await rm(ticket.path, { force: true });
    },
  };
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** A lock without a living owner. */
interface Stale {
  /** True if the owner's pid is not meaningful here, and it has no heartbeats. Otherwise the owner is certainly dead. */
  readonly isSilent: boolean;
  readonly modifiedAt: number | null;
}

interface Look {
  /** In milliseconds. */
  readonly watch: number;
  readonly onWait: LockOptions['onWait'];
}

async function staleOrRefused(directory: string, number: number, look: Look): Promise<Stale> {
  const path = pathOf(directory, number);
  const at = await modifiedAt(path);
  const owner = await ownerOf(path);
  if (owner === 'gone') return { isSilent: false, modifiedAt: at };
  const life = owner === 'unreadable' ? 'unknown' : lifeOf(owner);
  if (life === 'dead') return { isSilent: false, modifiedAt: at };
  if (life === 'unknown') {
    look.onWait?.(
      `The data directory ${directory} is locked by ${nameOf(owner)} of another machine, container or boot: watching for ` +
        `${look.watch / 1000} s whether it is still running`,
    );
    if (!(await beats(path, look.watch))) return { isSilent: true, modifiedAt: at };
  }
  throw inUse(directory, nameOf(owner));
}

/** The owner's name in messages. */
export const nameOf = (owner: Owner | 'unreadable'): string =>
  owner === 'unreadable' ? 'another process' : `process ${owner.pid} (${owner.place.split(' ')[0]})`;

function inUse(directory: string, by: string): DatabaseStartError {
  return new DatabaseStartError(
    'locked',
    `The data directory ${directory} is in use by ${by}. Only one process at a time can use it: stop that ` +
      'process, set another DATA_DIR, or set DATABASE_URL to run several processes on a PostgreSQL server.',
  );
}
