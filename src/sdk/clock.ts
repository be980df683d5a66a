import { clockSkewSeconds } from '../protocol/constants.ts';
import { type Failure, failure } from './failure.ts';

/** Whole seconds since the Unix epoch. */
export function unixSeconds(now: () => number): number {
  return Math.floor(now() / 1000);
}

/** Whether a server's time is within the tolerance of this device's clock (SPEC §8). */
export function isOnTime(timestamp: number, now: () => number): boolean {
  return Math.abs(timestamp - unixSeconds(now)) <= clockSkewSeconds;
}

export function clockFailure(): Failure {
  return failure(
    'clock',
    `This device's clock and the server's differ by more than ${clockSkewSeconds} seconds`,
  );
}
