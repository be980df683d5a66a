import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import pLimit, { type LimitFunction } from 'p-limit';
import { createFairQueue, QueueFullError } from '../lib/fair-queue.ts';

/** Argon2id (the library's default algorithm) with the cost that OWASP recommends: 19 MiB, two passes, one lane. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * Concurrent hashes. They run in libuv's thread pool; one processor stays free for the event loop, and one of the pool's
 * four threads for DNS and files.
 */
const concurrency = Math.min(3, Math.max(1, availableParallelism() - 1));
/** Maximum queue length: a few seconds' work. It bounds the wait during a flood of logins from many addresses. */
const maxWaiting = 64;
/** The queue is shared fairly between networks: an attacker with an IPv6 /56 has 256 addresses with a rate limit each. */
const queue = createFairQueue({ concurrency, maxWaiting });
/** How many hashes one developer who creates accounts may have in the queue at once; customers' logins share it. */
const concurrencyPerDeveloper = 2;
const developerQueues = new Map<string, LimitFunction>();

/** The password queue is full; a new entry would wait for seconds. The caller can retry later. */
export class PasswordsBusyError extends Error {
  override readonly name = 'PasswordsBusyError';

  constructor() {
    super('Too many passwords are waiting to be hashed or verified');
  }
}

/** A dummy hash, so that an unknown account takes as much time as a known one. */
let dummyHash: Promise<string> | undefined;

/**
 * Hashes a password with Argon2id, off the event loop.
 * @param network the client's network, from `networkOf`; the queue is shared fairly between networks
 * @returns PHC string
 * @throws {PasswordsBusyError}
 */
export const hashPassword = (password: string, network: string): Promise<string> =>
  enqueue(network, () => hash(password, cost));

/**
 * Hashes the password of an account that a developer creates. A developer who creates a thousand accounts waits for
 * their own hashes, without delaying logins of other vendors' customers.
 * @throws {PasswordsBusyError} if too many hashes are waiting, either the developer's or in total
 */
export async function hashPasswordFor(
  developerId: string,
  password: string,
  network: string,
): Promise<string> {
  const limit = developerQueues.get(developerId) ?? pLimit(concurrencyPerDeveloper);
  if (limit.pendingCount >= maxWaiting) throw new PasswordsBusyError();
  developerQueues.set(developerId, limit);
  const hashed = limit(() => hashPassword(password, network));
  const removeIfIdle = (): void => {
    // The finished hash may still be counted. If the one counted is another hash, it may briefly run in addition to the
    // new limiter's.
    if (limit.activeCount + limit.pendingCount <= 1) developerQueues.delete(developerId);
  };
  return hashed.finally(removeIfIdle);
}

/**
 * Whether the password matches the hash. Without a hash it does the same work and returns false, so that response times do
 * not reveal which accounts exist.
 * @param network the client's network, from `networkOf`; the queue is shared fairly between networks
 * @throws {PasswordsBusyError}
 */
export async function verifyPassword(
  passwordHash: string | null,
  password: string,
  network: string,
): Promise<boolean> {
  // Computed outside the queue: if the queue rejected it once, the cached promise would stay rejected.
  dummyHash ??= hash('dummy password', cost);
  const compared = passwordHash ?? (await dummyHash);
  const matches = await enqueue(network, () => verify(compared, password));
  return matches && passwordHash !== null;
}

async function enqueue<Result>(network: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await queue.run(network, work);
  } catch (error) {
    throw error instanceof QueueFullError ? new PasswordsBusyError() : error;
  }
}
