/** A worker that served for so long was well, in milliseconds: its successor starts at once. */
const wellAfter = 10_000;
const firstDelay = 250;
/** Short enough to be back soon after a database is. */
const longestDelay = 2_000;

/** How often in a row a worker's place was lost soon, after one more that served for so long; null: never. */
export const soonLost = (before: number, servedMilliseconds: number | null): number =>
  (servedMilliseconds ?? 0) >= wellAfter ? 1 : before + 1;

/**
 * How long a worker's place stays empty: not at all the first time, then twice as long each time.
 * @param timesLost of {@link soonLost}, at least 1
 * @returns milliseconds
 */
export const restartDelay = (timesLost: number): number =>
  timesLost <= 1 ? 0 : Math.min(longestDelay, firstDelay * 2 ** (timesLost - 2));
