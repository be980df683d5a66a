/** The queue is full, in total or for this key. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';

  constructor() {
    super('The queue is full');
  }
}

export interface FairQueueOptions {
  /** Maximum number of tasks that run at once. */
  readonly concurrency: number;
  /** The same per key, so that one key's long tasks do not block all others. Default: `concurrency`. */
  readonly concurrencyPerKey?: number;
  /** Maximum number of waiting tasks. */
  readonly maxWaiting: number;
}

/** A queue that serves its keys round-robin, regardless of how many tasks each of them has waiting. */
export interface FairQueue {
  /** Number of waiting tasks. */
  readonly waiting: number;
  /**
   * Runs the task when it is the key's turn.
   * @throws {QueueFullError} if the queue is full, or if a key with fewer waiting tasks takes this task's place
   */
  run<Result>(key: string, task: () => Promise<Result>): Promise<Result>;
}

interface Waiting {
  start(): void;
  evict(): void;
}

/**
 * Creates a queue that one key cannot fill. If the queue is full, a new task evicts the latest task of the key with the
 * most waiting tasks, unless its own key would then have as many. This evens out the keys' shares and never makes two
 * keys evict each other's tasks in turn.
 */
export function createFairQueue({
  concurrency,
  concurrencyPerKey = concurrency,
  maxWaiting,
}: FairQueueOptions): FairQueue {
  /** Non-empty queues by key; the first key is the next to be served. */
  const queues = new Map<string, Waiting[]>();
  /** Number of running tasks by key. */
  const runningByKey = new Map<string, number>();
  let waiting = 0;
  let running = 0;

  const canStart = (key: string): boolean =>
    running < concurrency && (runningByKey.get(key) ?? 0) < concurrencyPerKey;

  function countStarted(key: string): void {
    running += 1;
    runningByKey.set(key, (runningByKey.get(key) ?? 0) + 1);
  }

  function countEnded(key: string): void {
    running -= 1;
    const left = (runningByKey.get(key) ?? 0) - 1;
    if (left > 0) runningByKey.set(key, left);
    else runningByKey.delete(key);
  }

  function makeRoom(key: string): void {
    if (waiting < maxWaiting) return;
    let fullest: Waiting[] = [];
    for (const queue of queues.values()) if (queue.length > fullest.length) fullest = queue;
    const own = queues.get(key)?.length ?? 0;
    if (fullest.length <= own + 1) throw new QueueFullError();
    waiting -= 1;
    fullest.pop()?.evict();
  }

  function startNext(): void {
    for (const [key, queue] of queues) {
      if (!canStart(key)) continue;
      const first = queue.shift();
      queues.delete(key);
      if (queue.length > 0) queues.set(key, queue);
      waiting -= 1;
      countStarted(key);
      first?.start();
      return;
    }
  }

  function wait(key: string): Promise<void> {
    makeRoom(key);
    return new Promise((resolve, reject) => {
      const queue = queues.get(key) ?? [];
      queue.push({ start: resolve, evict: () => reject(new QueueFullError()) });
      queues.set(key, queue);
      waiting += 1;
    });
  }

  return {
    get waiting() {
      return waiting;
    },
    async run(key, task) {
      if (canStart(key)) countStarted(key);
      else await wait(key);
      try {
        return await task();
      } finally {
        countEnded(key);
        startNext();
      }
    },
  };
}
