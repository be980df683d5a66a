import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseStartError } from '../start-error.ts';
import { graceMilliseconds, HeldLock, LockLostError, type LockTicket, ticketOf } from './held-lock.ts';
import {
  beats,
  createExclusively,
  invalidations,
  lockNumbers,
  ownerOf,
  pathOf,
  removeStale,
} from './lock-file.ts';
import { lifeOf, type Owner, thisProcess } from './owner.ts';
import { spawnThread } from './spawn.ts';

/*
 * Two processes on one directory destroy the database silently (design §3), so a lock file names its owner.
 * Locks are numbered. A starter makes the number after the highest, exclusively, so of two that find the same stale
 * lock one wins. Then it looks again: were there another living lock, at least one of the two would see the other's,
 * because each looks after it has made its own.
 *
 * Whether an owner lives, its pid tells where pids mean the same here. Elsewhere its beats do: one that shows none is
 * taken over, though it may stand still and wake up later. held-lock.ts says why it then writes nothing.
 */

/** For those who cannot see a holder's pid: how long they watch it. Five beats. */
export const watchMilliseconds = 10_000;

export interface Lock {
  /** For the thread that changes the files. */
  readonly ticket: LockTicket;
  /** @throws {LockLostError | LockUnconfirmedError} when the directory is not known to be this process's */
  assertHeld(): void;
  release(): Promise<void>;
}

export interface LockOptions {
  /** Called once when another process has taken the directory over: this one is to end. */
  readonly onLost?: (error: LockLostError) => void;
  /** Receives a message for people about what a wait of several seconds is for. */
  readonly onWait?: (message: string) => void;
  readonly watchMilliseconds?: number;
  readonly graceMilliseconds?: number;
}

/**
 * Takes a data directory for this process. A lock whose owner's pid means nothing here is taken over when it shows no
 * sign of life, which takes some 20 seconds.
 * @throws {DatabaseStartError} `locked` when another process has it
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
      // One that was watched, and has not been invalidations since, needs no second watch.
      const stays =
        seen !== undefined && seen.invalidations === (await invalidations(pathOf(directory, number)));
      const { isSilent } = stays ? seen : await staleOrRefused(directory, number, look);
      if (isSilent) await writeFile(graceMark(directory), '');
      await removeStale(directory, number);
    }
    await passGrace(directory, options);
    lock.assertHeld();
  } catch (error) {
    await lock.release();
    throw error instanceof LockLostError ? inUse(directory, 'another process that took it meanwhile') : error;
  }
  return lock;
}

/**
 * This file is there from before a silent holder's lock is removed until the grace is over. Where the taker is killed
 * meanwhile, the next one waits as well.
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
      // Another's may be in its place by now.
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

/** A lock that nobody living here has. */
interface Stale {
  /** Its owner cannot be looked up, and shows no sign of life. Otherwise it is dead for certain. */
  readonly isSilent: boolean;
  readonly invalidations: number | null;
}

interface Look {
  /** In milliseconds. */
  readonly watch: number;
  readonly onWait: LockOptions['onWait'];
}

async function staleOrRefused(directory: string, number: number, look: Look): Promise<Stale> {
  const path = pathOf(directory, number);
  const at = await invalidations(path);
  const owner = await ownerOf(path);
  if (owner === 'gone') return { isSilent: false, invalidations: at };
  const life = owner === 'unreadable' ? 'unknown' : lifeOf(owner);
  if (life === 'dead') return { isSilent: false, invalidations: at };
  if (life === 'unknown') {
    look.onWait?.(
      `The data directory ${directory} is locked by ${nameOf(owner)} of another machine, container or boot: watching for ` +
        `${look.watch / 1000} s whether it is still running`,
    );
    if (!(await beats(path, look.watch))) return { isSilent: true, invalidations: at };
  }
  throw inUse(directory, nameOf(owner));
}

/** For people. */
export const nameOf = (owner: Owner | 'unreadable'): string =>
  owner === 'unreadable' ? 'another process' : `process ${owner.pid} (${owner.place.split(' ')[0]})`;

function inUse(directory: string, by: string): DatabaseStartError {
  return new DatabaseStartError(
    'locked',
    `The data directory ${directory} is in use by ${by}. One process at a time can use it: stop that one, give this ` +
      'one another DATA_DIR, or set DATABASE_URL to run several on a PostgreSQL server.',
  );
}
