import { ServiceError } from './errors.ts';

const megabyte = 1_000_000;

/** Limits on unread response bytes, above which further reads are refused. */
export const unreadLimits = {
  ofDeveloper: 16 * megabyte,
  ofNetwork: 64 * megabyte,
  inAll: 256 * megabyte,
  /** An account with at most this many unread bytes may always read, whatever its network or other accounts leave unread. */
  whenFull: 100_000,
} as const;

/** The parts of Node's `ServerResponse` that are needed here. */
export interface SentAnswer {
  /** True if the response has ended and will not emit `close`. */
  readonly destroyed: boolean;
  /** Buffered bytes that the connection has not accepted yet. */
  readonly writableLength: number;
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Counts response bytes that are buffered because clients do not read them. Otherwise a client that requests long lists
 * and reads nothing could fill the memory: the rate limits allow 9 responses of 4 MB per second.
 */
export interface UnreadAnswers {
  /** Counts a response for its owner, a developer or a network, until it is sent or aborted. */
  follow(owner: string, answer: SentAnswer): void;
  /**
   * Checks that another response is allowed.
   * @throws {ServiceError} TOO_MANY_READS
   */
  checkRoom(developer: string, network: string): void;
}

export function createUnreadAnswers(
  limits: Readonly<Record<keyof typeof unreadLimits, number>> = unreadLimits,
): UnreadAnswers {
  const followed = new Map<string, Set<SentAnswer>>();
  const all = new Set<SentAnswer>();
  const bytesOf = (answers: Iterable<SentAnswer> = []): number => {
    let bytes = 0;
    for (const answer of answers) bytes += answer.writableLength;
    return bytes;
  };
  return {
    follow(owner, answer) {
      if (answer.destroyed) return;
      const own = followed.get(owner) ?? new Set();
      followed.set(owner, own.add(answer));
      all.add(answer);
      answer.once('close', () => {
        all.delete(answer);
        own.delete(answer);
        if (own.size === 0 && followed.get(owner) === own) followed.delete(owner);
      });
    },
    checkRoom(developer, network) {
      const ofDeveloper = bytesOf(followed.get(developer));
      if (ofDeveloper <= limits.whenFull) return;
      if (ofDeveloper > limits.ofDeveloper) throw unread('this account');
      if (bytesOf(followed.get(network)) > limits.ofNetwork) throw unread('this network');
      if (bytesOf(all) > limits.inAll) throw unread('this account');
    },
  };
}

const unread = (whose: string) =>
  new ServiceError(
    'TOO_MANY_READS',
    `Too many response bytes for ${whose} are unread. Read the responses before you request more, or request pages.`,
  );
