/** So many wait already, of all or of the one who asks, that another one would wait too long. */
export class NoPlaceError extends Error {
  override readonly name = 'NoPlaceError';

  constructor() {
    super('Too many are waiting for their turn');
  }
}

export interface FairTurnsOptions {
  /** How many work at once. */
  readonly atOnce: number;
  /** How many of one key do, because long work could take all turns; by default as many as in total. */
  readonly atOnceForOne?: number;
  /** How many may wait. */
  readonly mostWaiting: number;
}

/** A queue in which turns go round between keys, whatever each of them has waiting. */
export interface FairTurns {
  /** How many wait. */
  readonly waiting: number;
  /**
   * Works when it is this key's turn.
   * @throws {NoPlaceError} when there is no place, or when the place is given to a key that has fewer
   */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result>;
}

interface Waiting {
  begin(): void;
  giveUp(): void;
}

/**
 * A queue that one key alone cannot fill. When all places are taken, a newcomer gets that of the latest of the key that
 * has the most, unless it would then have as many itself: so keys end with equally many, and take none from each other.
 */
export function createFairTurns({ atOnce, atOnceForOne = atOnce, mostWaiting }: FairTurnsOptions): FairTurns {
  /** By key, the key whose turn is next first; each with at least one who waits. */
  const queues = new Map<string, Waiting[]>();
  /** How many work, by key. */
  const workingOf = new Map<string, number>();
  let waiting = 0;
  let working = 0;

  const mayBegin = (key: string): boolean => working < atOnce && (workingOf.get(key) ?? 0) < atOnceForOne;

  function noteBegun(key: string): void {
    working += 1;
    workingOf.set(key, (workingOf.get(key) ?? 0) + 1);
  }

  function noteEnded(key: string): void {
    working -= 1;
    const left = (workingOf.get(key) ?? 0) - 1;
    if (left > 0) workingOf.set(key, left);
    else workingOf.delete(key);
  }

  function makePlace(key: string): void {
    if (waiting < mostWaiting) return;
    let fullest: Waiting[] = [];
    for (const queue of queues.values()) if (queue.length > fullest.length) fullest = queue;
    const own = queues.get(key)?.length ?? 0;
    if (fullest.length <= own + 1) throw new NoPlaceError();
    waiting -= 1;
    fullest.pop()?.giveUp();
  }

  function beginNext(): void {
    for (const [key, queue] of queues) {
      if (!mayBegin(key)) continue;
      const first = queue.shift();
      queues.delete(key);
      if (queue.length > 0) queues.set(key, queue);
      waiting -= 1;
      noteBegun(key);
      first?.begin();
      return;
    }
  }

  function wait(key: string): Promise<void> {
    makePlace(key);
    return new Promise((resolve, reject) => {
      const queue = queues.get(key) ?? [];
      queue.push({ begin: resolve, giveUp: () => reject(new NoPlaceError()) });
      queues.set(key, queue);
      waiting += 1;
    });
  }

  return {
    get waiting() {
      return waiting;
    },
    async run(key, work) {
      if (mayBegin(key)) noteBegun(key);
      else await wait(key);
      try {
        return await work();
      } finally {
        noteEnded(key);
        beginNext();
      }
    },
  };
}
