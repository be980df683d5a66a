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

/** Which pages may use the session cookie: this service's, and those of `CORS_ORIGINS`. */
export interface AllowedOrigins {
  /** Those of `CORS_ORIGINS`. */
  readonly configured: readonly string[];
  /** The origin of the page that asks, where it is not allowed; null for an allowed one, and where no page asks. */
  foreign(c: RestContext): string | null;
  /** Tells the operator of an origin that was refused. */
  noteRefused(origin: string): void;
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
    noteRefused: createRefusalLog(options),
  };
}

/** The page was served by the very address that it calls. */
function isSameHost(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).host === host;
}

/** A sender chooses what `Origin` says, a million times over: what is remembered, and logged in a minute, is bounded. */
const bounds = { remembered: 1_000, longest: 100, linesPerMinute: 10 } as const;
const minute = 60_000;

/** Logs each origin once, as long as it is remembered. What goes beyond a minute's lines is counted in the next one. */
export function createRefusalLog({ clock, log }: Pick<AllowedOriginsOptions, 'clock' | 'log'>) {
  const logged = new LRUCache<string, true>({ max: bounds.remembered });
  let windowStart = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let unnamed = 0;
  return (text: string): void => {
    const origin = text.slice(0, bounds.longest);
    if (logged.get(origin) === true) return;
    const now = clock.now();
    // The second condition: the clock was set back.
    if (now - windowStart >= minute || now < windowStart) {
      windowStart = now;
      lines = 0;
    }
    if (lines >= bounds.linesPerMinute) {
      unnamed += 1;
      return;
    }
    lines += 1;
    logged.set(origin, true);
    log.warn(
      { origin, ...(unnamed > 0 && { refusedWithoutALine: unnamed }) },
      'A page of an origin that is not in CORS_ORIGINS called the dashboard API. Browsers keep the answers from it, and ' +
        'changes by session cookie are refused. Add the origin to CORS_ORIGINS if the page is yours',
    );
    unnamed = 0;
  };
}
