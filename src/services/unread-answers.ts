import { ServiceError } from './errors.ts';

const megabyte = 1_000_000;

/** How many bytes of answers may wait to be read before the next read is refused. */
export const unreadLimits = {
  ofDeveloper: 16 * megabyte,
  ofNetwork: 64 * megabyte,
  inAll: 256 * megabyte,
  /** An account with no more than this unread may still read, whatever its network, or all accounts, leave unread. */
  whenFull: 100_000,
} as const;

/** An answer that is being sent, as Node.js knows it. */
export interface SentAnswer {
  /** True if it has ended and will emit no `close`. */
  readonly destroyed: boolean;
  /** Bytes that the process holds because the connection does not accept them. */
  readonly writableLength: number;
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Counts the bytes of answers that the process holds because clients do not read them. A client that requests long lists and
 * reads nothing would otherwise fill the memory: 9 answers of 4 MB a second are within the rate limits.
 */
export interface UnreadAnswers {
  /** Counts an answer for its owner, a developer or a network, until it is sent or aborted. */
  follow(owner: string, answer: SentAnswer): void;
  /**
   * Checks that another answer is allowed.
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
    `Too many bytes of answers to ${whose} wait to be read. Read the answers before you request more, or request pages.`,
  );
