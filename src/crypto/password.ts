import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import pLimit, { type LimitFunction } from 'p-limit';
import { createFairTurns, NoPlaceError } from '../lib/fair-turns.ts';

/** Argon2id (the library's default algorithm) at the cost that OWASP recommends: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * How many are computed at once. They run beside the event loop, and would take its processor from it: one is left to
 * it, and one of libuv's four threads to DNS and files.
 */
const atOnce = Math.min(3, Math.max(1, availableParallelism() - 1));
/** How many may wait: some seconds' work, which a flood of logins from many addresses would be without end. */
const mostWaiting = 64;
/** Turns and places are shared between the networks that ask: a /56 has 256 clients, each with a limit to itself. */
const inTurn = createFairTurns({ atOnce, mostWaiting });
/** Of one developer who makes many accounts, so many stand in the queue that customers' logins stand in. */
const atOnceForOne = 2;
const turnsOf = new Map<string, LimitFunction>();

/** So many passwords wait to be hashed that another one would wait for seconds. Trying again later may help. */
export class PasswordsBusyError extends Error {
  override readonly name = 'PasswordsBusyError';

  constructor() {
    super('Too many passwords are waiting to be hashed or verified');
  }
}

/** A hash of no one's password, so that an unknown account costs as much time as a known one. */
let decoy: Promise<string> | undefined;

/**
 * Argon2id in PHC string format; runs off the event loop.
 * @param network whose turn it takes, as `networkOf` has it
 * @throws {PasswordsBusyError}
 */
export const hashPassword = (password: string, network: string): Promise<string> =>
  whenFree(network, () => hash(password, cost));

/**
 * The same for an account that a developer makes. A developer who makes a thousand of them waits for their own, and a
 * customer of another vendor who logs in meanwhile does not.
 * @throws {PasswordsBusyError} when too many of the developer's wait, or of all
 */
export async function hashPasswordFor(
  developerId: string,
  password: string,
  network: string,
): Promise<string> {
  const turn = turnsOf.get(developerId) ?? pLimit(atOnceForOne);
  if (turn.pendingCount >= mostWaiting) throw new PasswordsBusyError();
  turnsOf.set(developerId, turn);
  const hashed = turn(() => hashPassword(password, network));
  const forget = (): void => {
    // This one may still be counted. Where it was another, that one is done beside those to come.
    if (turn.activeCount + turn.pendingCount <= 1) turnsOf.delete(developerId);
  };
  return hashed.finally(forget);
}

/**
 * True when the password fits the hash. Without a hash it does the same work and answers false, so that response
 * times do not tell which accounts exist.
 * @param network whose turn it takes, as `networkOf` has it
 * @throws {PasswordsBusyError}
 */
export async function verifyPassword(
  passwordHash: string | null,
  password: string,
  network: string,
): Promise<boolean> {
  // Not in turn: refused once, it would be refused for ever.
  decoy ??= hash('a password that nobody has', cost);
  const compared = passwordHash ?? (await decoy);
  const matches = await whenFree(network, () => verify(compared, password));
  return matches && passwordHash !== null;
}

async function whenFree<Result>(network: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await inTurn.run(network, work);
  } catch (error) {
    throw error instanceof NoPlaceError ? new PasswordsBusyError() : error;
  }
}
