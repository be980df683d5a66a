/** The queue is full, in total or for this key. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
  override readonly message = 'The queue is full';
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
  evict(error: QueueFullError): void;
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
  /** The keys of the running tasks. */
  const running: string[] = [];
  let waiting = 0;

  const canStart = (key: string): boolean =>
    running.length < concurrency && running.filter((other) => other === key).length < concurrencyPerKey;

  function evictFor(key: string): void {
    let fullest: Waiting[] = [];
    for (const queue of queues.values()) if (queue.length > fullest.length) fullest = queue;
    const own = queues.get(key)?.length ?? 0;
    if (fullest.length <= own + 1) throw new QueueFullError();
    fullest.pop()?.evict(new QueueFullError());
    waiting -= 1;
  }

  function wait(key: string): Promise<void> {
    if (waiting >= maxWaiting) evictFor(key);
    waiting += 1;
    return new Promise((start, evict) => {
      const queue = queues.get(key) ?? [];
      queue.push({ start, evict });
      queues.set(key, queue);
    });
  }

  function startNext(): void {
    for (const [key, queue] of queues) {
      if (!canStart(key)) continue;
      queue.shift()?.start();
      queues.delete(key);
      if (queue.length > 0) queues.set(key, queue);
      waiting -= 1;
      running.push(key);
      return;
    }
  }

  return {
    get waiting() {
      return waiting;
    },
    async run(key, task) {
      if (canStart(key)) running.push(key);
      else await wait(key);
      try {
        return await task();
      } finally {
        running.splice(running.indexOf(key), 1);
        startNext();
      }
    },
  };
}
