import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { RestContext } from '../adapter.ts';

export interface AllowedOriginsOptions {
  readonly publicUrl: string;
  readonly corsOrigins: readonly string[];
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}

/** Origins whose pages may use the session cookie: this service's and those of `CORS_ORIGINS`. */
export interface AllowedOrigins {
  /** The origins of `CORS_ORIGINS`. */
  readonly configured: readonly string[];
  /** The request's `Origin` if it is not allowed; null if it is allowed or absent. */
  foreign(c: RestContext): string | null;
  /** Warns the operator about a refused origin. */
  logRefused(origin: string): void;
}

export function createAllowedOrigins(options: AllowedOriginsOptions): AllowedOrigins {
  const { publicUrl, corsOrigins } = options;
  const allowed = new Set([new URL(publicUrl).origin, ...corsOrigins]);
  return {
    configured: corsOrigins,
    foreign: (c) => {
      const origin = c.req.header('origin');
      if (origin === undefined || allowed.has(origin)) return null;
      return isSameHost(origin, c.req.header('host')) ? null : origin;
    },
    logRefused: createRefusalLog(options),
  };
}

/** Whether the page was served by the host that it calls. */
function isSameHost(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}

/** Callers choose the value of `Origin`, so memory and log lines are bounded. */
const bounds = { remembered: 1_000, maxLength: 100, linesPerMinute: 10 } as const;
const minute = 60_000;

/** Logs each origin once while it is remembered. Lines above the limit per minute are dropped and counted in the next line. */
export function createRefusalLog({ clock, log }: Pick<AllowedOriginsOptions, 'clock' | 'log'>) {
  const logged = new LRUCache<string, true>({ max: bounds.remembered });
  let windowStart = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let suppressed = 0;
  return (text: string): void => {
    const origin = text.slice(0, bounds.maxLength);
    if (logged.get(origin) === true) return;
    const now = clock.now();
    // The second condition holds when the clock was set back.
    if (now - windowStart >= minute || now < windowStart) {
      windowStart = now;
      lines = 0;
    }
    if (lines >= bounds.linesPerMinute) {
      suppressed += 1;
      return;
    }
    lines += 1;
    logged.set(origin, true);
    log.warn(
      { origin, ...(suppressed > 0 && { suppressedWarnings: suppressed }) },
      'A page whose origin is not in CORS_ORIGINS called the dashboard API. Browsers hide the responses from it, and ' +
        'changes that use the session cookie are refused. If the page is yours, add its origin to CORS_ORIGINS',
    );
    suppressed = 0;
  };
}
