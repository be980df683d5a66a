import { type Finding, findingsOf } from './finding.ts';

/** The protocol allows a clock skew of 60 s. Half of that is left to clients' own clocks. */
const warnSeconds = 5;
const failSeconds = 30;

/**
 * Compares a server's clock with this machine's.
 * @param server its name in the message
 * @param ahead the server's time minus this machine's, in milliseconds
 */
export function checkClock(server: string, ahead: number, check: 'redis' | 'database'): Finding {
  const { ok, warn, fail } = findingsOf(`${check} clock`);
  const seconds = Math.abs(ahead) / 1000;
  const difference = `The clock of ${server} is ${seconds.toFixed(1)} s ${ahead < 0 ? 'behind' : 'ahead of'} this machine's`;
  const advice =
    'Synchronize both with NTP: requests of clients whose clock is off by more than 60 s are refused.';
  if (seconds > failSeconds) return fail(`${difference}. ${advice}`);
  if (seconds > warnSeconds) return warn(`${difference}. ${advice}`);
  return ok(difference);
}
