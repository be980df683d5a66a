import type { Clock } from '../lib/clock.ts';
import { maxCatchUp } from '../lib/ids.ts';
import { lengthOfTime } from '../lib/length-of-time.ts';
import type { Logger } from '../lib/log.ts';

export interface ClockWatchOptions {
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  /** A monotonic clock, in milliseconds. */
  readonly steady?: () => number;
  readonly everyMilliseconds?: number;
}

/** Smaller differences, in milliseconds, are not steps: a busy process may read the two clocks some time apart. */
const tolerance = 5_000;

/**
 * Warns the operator when the clock is set ahead or back, and explains the consequences (docs/clocks.md).
 * @returns a function that stops the watch
 */
export function startClockWatch(options: ClockWatchOptions): () => Promise<void> {
  const { clock, log, steady = () => performance.now(), everyMilliseconds = 1_000 } = options;
  let offset = clock.now() - steady();
  const timer = setInterval(() => {
    const before = offset;
    offset = clock.now() - steady();
    const step = offset - before;
    if (step > tolerance) log.warn(describeAhead(step));
    if (step < -tolerance) log.warn(describeBack(-step));
  }, everyMilliseconds).unref();
  return async () => clearInterval(timer);
}

const describeAhead = (step: number): string =>
  `The clock was set ahead by ${lengthOfTime(step)}, or this machine was suspended for that long: licenses and sessions ` +
  'expire accordingly. Nothing is purged by the new time for a day.';

const describeBack = (step: number): string =>
  `The clock was set back by ${lengthOfTime(step)}: sessions of client software end and are reopened. ${
    step > maxCatchUp
      ? 'New ids are lower than earlier ones until it has caught up: entries from the future stay at the top of lists.'
      : 'The timestamps in ids stand still until it has caught up.'
  }`;
