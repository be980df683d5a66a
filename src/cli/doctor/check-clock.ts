import { type Finding, findingsOf } from './finding.ts';

/** The protocol refuses what is 60 seconds off; half of that is left to clients' own clocks. */
const warnSeconds = 5;
const failSeconds = 30;

/**
 * Compares a server's clock with ours.
 * @param whose for people
 * @param ahead that clock less ours, in milliseconds
 */
export function checkClock(whose: string, ahead: number, check: 'redis' | 'database'): Finding {
  const { ok, warn, fail } = findingsOf(`${check} clock`);
  const seconds = Math.abs(ahead) / 1000;
  const difference = `The clock of ${whose} is ${seconds.toFixed(1)} s ${ahead < 0 ? 'behind' : 'ahead of'} this machine's`;
  const advice = 'Synchronize both with NTP: client requests that are 60 s off are refused.';
  if (seconds > failSeconds) return fail(`${difference}. ${advice}`);
  if (seconds > warnSeconds) return warn(`${difference}. ${advice}`);
  return ok(difference);
}
