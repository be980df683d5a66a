import pLimit, { type LimitFunction } from 'p-limit';
import type { DatabaseAddress } from '../db/address.ts';
import { createFairQueue } from '../lib/fair-queue.ts';
import { networkOf } from '../lib/ip.ts';
import type { Actor } from './actor.ts';
import type { ClientOrigin } from './client-origin.ts';
import { ServiceError } from './errors.ts';
import { type RequestWork, workAbandoned } from './request-work.ts';
import type { UnreadAnswers } from './unread-answers.ts';

/** Limits on developers' concurrent database work. */
export interface TurnLimits {
  /** Concurrent tasks per developer. */
  readonly concurrencyPerDeveloper: number;
  /** Concurrent tasks of all developers. */
  readonly concurrency: number;
  /** Concurrent tasks per network. */
  readonly concurrencyPerNetwork: number;
  /** Running and waiting tasks per developer. */
  readonly maxWaiting: number;
  /** Maximum wait, in milliseconds. */
  readonly maxWait: number;
}

/** Who requests a turn. */
export interface Requester {
  /** The developer's id, or the client's rate limit key without a developer. */
  readonly developer: string;
  /** From `networkOf`. Accounts are free to create, so turns rotate between networks. */
  readonly network: string;
  /** Aborted when the result is no longer needed. */
  readonly wanted?: AbortSignal | undefined;
}

/** Queues developers' work, so that none of them delays other developers' requests or client software. */
export interface DeveloperTurns {
  /**
   * Runs the work when it is the developer's turn. The work must not request another turn of the same kind: tasks that
   * hold all of a developer's turns and wait for another one would deadlock.
   * @throws {ServiceError} the error of `refusal` if too much of the developer's own work is waiting; UNAVAILABLE if the
   *   wait for others is too long, or if the result is no longer needed
   */
  take<Result>(requester: Requester, work: () => Promise<Result>): Promise<Result>;
  /** Number of developers with running or waiting work; others take no memory. */
  readonly developers: number;
}

/**
 * Chooses the limits for a database. Each developer has few places in the common queue, however much work they request.
 * Turns rotate between networks, and no network can take all of them. Some connections are reserved for client software.
 * On the embedded database there is one turn for all.
 */
export function turnLimits(kind: DatabaseAddress['kind'], connections: number, maxWait: number): TurnLimits {
  const waiting = { maxWaiting: 500, maxWait };
  if (kind !== 'server') {
    return { concurrencyPerDeveloper: 1, concurrencyPerNetwork: 1, concurrency: 1, ...waiting };
  }
  // Reads and changes have separate queues. A quarter of the connections is reserved for client software.
  const concurrency = Math.max(1, Math.floor((connections * 3) / 8));
  return {
    concurrencyPerDeveloper: Math.min(2, concurrency),
    // Two accounts' mints or deletions may take half a minute; other networks must not wait for them.
    concurrencyPerNetwork: Math.max(1, concurrency - 1),
    concurrency,
    ...waiting,
  };
}

/** Maximum wait of a developer's reads and changes, in milliseconds. */
export const maxWaits = { read: 5_000, change: 20_000 } as const;

export function createDeveloperTurns(
  { concurrencyPerDeveloper, concurrencyPerNetwork, concurrency, maxWaiting, maxWait }: TurnLimits,
  refusal: () => ServiceError,
): DeveloperTurns {
  // Unbounded, because each developer has at most `concurrencyPerDeveloper` tasks in it.
  const commonQueue = createFairQueue({
    concurrency,
    concurrencyPerKey: concurrencyPerNetwork,
    maxWaiting: Number.POSITIVE_INFINITY,
  });
  const ownQueues = new Map<string, { readonly limit: LimitFunction; unsettled: number }>();
  return {
    take: async ({ developer, network, wanted }, work) => {
      const queue = ownQueues.get(developer) ?? { limit: pLimit(concurrencyPerDeveloper), unsettled: 0 };
      if (queue.unsettled >= maxWaiting) throw refusal();
      ownQueues.set(developer, queue);
      queue.unsettled += 1;
      const queuedAt = performance.now();
      const check = (tooLate: () => ServiceError) => {
        if (wanted?.aborted) throw workAbandoned();
        if (performance.now() - queuedAt > maxWait) throw tooLate();
      };
      try {
        return await queue.limit(async () => {
          check(refusal);
          const waitedForOwn = performance.now() - queuedAt;
          return commonQueue.run(network, async () => {
            const waitedForOthers = performance.now() - queuedAt - waitedForOwn;
            check(waitedForOthers > waitedForOwn ? tooBusy : refusal);
            return work();
          });
        });
      } finally {
        queue.unsettled -= 1;
        if (queue.unsettled === 0) ownQueues.delete(developer);
      }
    },
    get developers() {
      return ownQueues.size;
    },
  };
}

/** What of a request decides whose turn it takes. */
interface TurnContext {
  readonly env: {
    readonly readTurns: DeveloperTurns;
    readonly changeTurns: DeveloperTurns;
    readonly unreadAnswers: UnreadAnswers;
  };
  readonly actor: Actor;
  readonly client: Pick<ClientOrigin, 'ip' | 'limitKey'>;
  readonly work?: Pick<RequestWork, 'signal'>;
}

/**
 * Runs a read in the developer's turn, unless the result is no longer needed by then.
 * @throws {ServiceError} TOO_MANY_READS if too many reads are waiting, or too many bytes of earlier responses are unread
 */
export const inReadTurn = <Result>(ctx: TurnContext, read: () => Promise<Result>): Promise<Result> => {
  const { actor, client, env, work } = ctx;
  const developer = actor.type === 'developer' ? actor.developerId : client.limitKey;
  const network = networkOf(client.ip);
  return env.readTurns.take({ developer, network, wanted: work?.signal }, () => {
    // Checked when the turn comes, because hundreds of reads may be queued before the first response is created.
    env.unreadAnswers.checkRoom(developer, network);
    return read();
  });
};

/** Who requests a turn for a change; the network defaults to the client's. */
export type ChangeRequester = Pick<Requester, 'developer'> & Partial<Pick<Requester, 'network'>>;

/** Runs a change in turn. A change whose client has disconnected is not started. */
export const inChangeTurn = <Result>(
  { client, env, work }: TurnContext,
  { developer, network = networkOf(client.ip) }: ChangeRequester,
  change: () => Promise<Result>,
): Promise<Result> => env.changeTurns.take({ developer, network, wanted: work?.signal }, change);

export const tooManyReads = () =>
  new ServiceError(
    'TOO_MANY_READS',
    'Too many reads of this account are waiting. Wait for some responses before sending more requests, or request less at once.',
  );

/** The error for a wait that the caller did not cause. */
const tooBusy = () =>
  new ServiceError('UNAVAILABLE', 'The service is busy with other requests. Try again shortly.');

export const tooManyChanges = () =>
  new ServiceError(
    'UNAVAILABLE',
    'Too many changes of this account are waiting. Nothing was changed. Wait for some responses before sending more.',
  );
