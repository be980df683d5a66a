import pLimit, { type LimitFunction } from 'p-limit';
import type { DatabaseAddress } from '../db/address.ts';
import { createFairTurns } from '../lib/fair-turns.ts';
import { networkOf } from '../lib/ip.ts';
import type { Actor } from './actor.ts';
import type { ClientOrigin } from './client-origin.ts';
import { ServiceError } from './errors.ts';
import { type RequestWork, workAbandoned } from './request-work.ts';
import type { UnreadAnswers } from './unread-answers.ts';

/** How much developers have the database do at once. */
export interface TurnLimits {
  /** Of one developer, and so of one request. */
  readonly atOnceForOne: number;
  /** Of all developers. */
  readonly atOnce: number;
  /** Of all developers in one network. */
  readonly atOnceForNetwork: number;
  /** Of one developer, waiting or under way. */
  readonly mostWaiting: number;
  /** How long one waits, in milliseconds. */
  readonly longestWait: number;
}

/** Who takes a turn, and whether they still want it. */
export interface Taker {
  /** The account that asks, or the client address if there is none. */
  readonly developer: string;
  /** As `networkOf` has it: accounts are free, so turns go round between networks. */
  readonly network: string;
  /** Aborted when the answer is not wanted any more. */
  readonly wanted?: AbortSignal | undefined;
}

/** Work in turn, so that no developer's work holds up another's, or the clients' requests. */
export interface DeveloperTurns {
  /**
   * Works when it is the developer's turn. The work must not ask for another turn of the same kind: two that hold the
   * developer's turns and wait for another one each would wait for ever.
   * @throws {ServiceError} the error of `refusal` if too much of the developer's own work waits; UNAVAILABLE if they wait
   *   too long for others, or the answer is no longer wanted
   */
  take<Result>(taker: Taker, work: () => Promise<Result>): Promise<Result>;
  /** How many developers have something under way or waiting: the others are forgotten. */
  readonly developers: number;
}

/**
 * Each developer has few places in the common queue, however many they asked for. Turns rotate between networks, and one
 * network never takes all of them. Clients' requests always find a connection. The embedded database has one turn for all.
 */
export function turnLimits(
  kind: DatabaseAddress['kind'],
  connections: number,
  longestWait: number,
): TurnLimits {
  const waiting = { mostWaiting: 500, longestWait };
  if (kind !== 'server') return { atOnceForOne: 1, atOnceForNetwork: 1, atOnce: 1, ...waiting };
  // Reads and changes have a queue each. A quarter of the connections is for clients alone.
  const atOnce = Math.max(1, Math.floor((connections * 3) / 8));
  return {
    atOnceForOne: Math.min(2, atOnce),
    // Two accounts' mints or deletions may take half a minute: other networks do not wait for them.
    atOnceForNetwork: Math.max(1, atOnce - 1),
    atOnce,
    ...waiting,
  };
}

/** How long a developer waits for their own reads, and changes, in milliseconds. */
export const longestWaits = { read: 5_000, change: 20_000 } as const;

export function createDeveloperTurns(
  { atOnceForOne, atOnceForNetwork, atOnce, mostWaiting, longestWait }: TurnLimits,
  refusal: () => ServiceError,
): DeveloperTurns {
  // Each developer has at most `atOnceForOne` in it.
  const inTurn = createFairTurns({
    atOnce,
    atOnceForOne: atOnceForNetwork,
    mostWaiting: Number.POSITIVE_INFINITY,
  });
  const queues = new Map<string, { readonly ownTurn: LimitFunction; unsettled: number }>();
  return {
    take: async ({ developer, network, wanted }, work) => {
      const queue = queues.get(developer) ?? { ownTurn: pLimit(atOnceForOne), unsettled: 0 };
      if (queue.unsettled >= mostWaiting) throw refusal();
      queues.set(developer, queue);
      queue.unsettled += 1;
      const asked = performance.now();
      const check = (tooLate: () => ServiceError) => {
        if (wanted?.aborted) throw workAbandoned();
        if (performance.now() - asked > longestWait) throw tooLate();
      };
      try {
        return await queue.ownTurn(async () => {
          check(refusal);
          const waitedForOwn = performance.now() - asked;
          return inTurn.run(network, async () => {
            const waitedForOthers = performance.now() - asked - waitedForOwn;
            check(waitedForOthers > waitedForOwn ? tooBusy : refusal);
            return work();
          });
        });
      } finally {
        queue.unsettled -= 1;
        if (queue.unsettled === 0) queues.delete(developer);
      }
    },
    get developers() {
      return queues.size;
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
 * Reads in the developer's turn, as long as the answer is wanted.
 * @throws {ServiceError} TOO_MANY_READS if too many reads wait, or too many bytes of earlier answers are unread
 */
export const inReadTurn = <Result>(ctx: TurnContext, read: () => Promise<Result>): Promise<Result> => {
  const { actor, client, env, work } = ctx;
  const developer = actor.type === 'developer' ? actor.developerId : client.limitKey;
  const network = networkOf(client.ip);
  return env.readTurns.take({ developer, network, wanted: work?.signal }, () => {
    // Checked in turn, because hundreds of reads may be requested before their first answer is made.
    env.unreadAnswers.checkRoom(developer, network);
    return read();
  });
};

/** Who takes a turn to change something; the network defaults to the client's. */
export type ChangeTaker = Pick<Taker, 'developer'> & Partial<Pick<Taker, 'network'>>;

/** Runs changes in turn. A change whose client has disconnected is not begun. */
export const inChangeTurn = <Result>(
  { client, env, work }: TurnContext,
  { developer, network = networkOf(client.ip) }: ChangeTaker,
  change: () => Promise<Result>,
): Promise<Result> => env.changeTurns.take({ developer, network, wanted: work?.signal }, change);

export const tooManyReads = () =>
  new ServiceError(
    'TOO_MANY_READS',
    'Too much of what this account reads waits already. Wait for some answers before asking for more, or ask for less at once.',
  );

/** For a wait that the caller did not cause. */
const tooBusy = () =>
  new ServiceError(
    'UNAVAILABLE',
    'The service is busy with requests of others at the moment. Try again shortly.',
  );

export const tooManyChanges = () =>
  new ServiceError(
    'UNAVAILABLE',
    'Too many changes of this account wait already. Nothing was changed. Wait for some answers before sending more.',
  );
