/** A worker that served for this long counts as healthy, in milliseconds. It is restarted without a delay. */
const healthyAfter = 10_000;
const firstDelay = 250;
/** Short, so that workers return soon after a database does. */
const maxDelay = 2_000;

/**
 * Counts consecutive early ends of a worker.
 * @param before the count before this end
 * @param servedMilliseconds how long the worker served; null if it never did
 */
export const soonLost = (before: number, servedMilliseconds: number | null): number =>
  (servedMilliseconds ?? 0) >= healthyAfter ? 1 : before + 1;

/**
 * The delay before a worker is restarted: none the first time, then doubling.
 * @param timesLost the result of {@link soonLost}, at least 1
 * @returns milliseconds
 */
export const restartDelay = (timesLost: number): number =>
  timesLost <= 1 ? 0 : Math.min(maxDelay, firstDelay * 2 ** (timesLost - 2));
