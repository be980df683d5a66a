import type { Logger } from '../lib/log.ts';
import type { RequestNotes } from './request-notes.ts';

/** How a request ended, as its connection tells it. */
export interface RequestEnd {
  /** Null when the client went away before an answer was begun. */
  readonly status: number | null;
  /** Whether the client went away before the answer was whole. */
  readonly aborted: boolean;
  readonly seconds: number;
  /** On the wire, heads included. */
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Writes one line a request. */
export interface RequestLog {
  /** Whether any line of it is written: else nothing needs to be measured for it. */
  readonly isOn: boolean;
  write(notes: RequestNotes, end: RequestEnd): void;
}

/**
 * Failures of the service are level `error`. Probes that find it well are `debug`, and so are client calls with status
 * 200, the most frequent requests: the security log and the metrics have their verdicts. All others are `info`. Below the
 * level of the log, nothing is built.
 */
export function createRequestLog(log: Logger): RequestLog {
  const isOn = {
    error: log.isLevelEnabled('error'),
    info: log.isLevelEnabled('info'),
    debug: log.isLevelEnabled('debug'),
  };
  return {
    isOn: isOn.error,
    write: (notes, end) => {
      const level = levelOf(notes, end);
      if (isOn[level]) log[level](lineOf(notes, end), 'request');
    },
  };
}

function levelOf(notes: RequestNotes, { status }: RequestEnd): 'error' | 'info' | 'debug' {
  if ((status !== null && status >= 500) || notes.code === 'INTERNAL') return 'error';
  const isRoutine = notes.transport === 'health' || (notes.transport === 'sealed' && status === 200);
  return isRoutine ? 'debug' : 'info';
}

/** A closed list of fields, each of a closed set, of the service's own making, or cleaned and cut. Undefined ones are left out. */
const lineOf = (notes: RequestNotes, end: RequestEnd) => ({
  requestId: notes.requestId,
  transport: notes.transport,
  method: notes.method,
  route: notes.route,
  status: end.status ?? undefined,
  code: notes.code ?? undefined,
  aborted: end.aborted || undefined,
  durationMilliseconds: Math.round(end.seconds * 1e6) / 1e3,
  ip: notes.ip ?? undefined,
  country: notes.country ?? undefined,
  developerId: notes.developerId ?? undefined,
  credential: notes.credential ?? undefined,
  applicationId: notes.applicationId ?? undefined,
  operation: notes.operation === null ? undefined : cleaned(notes.operation),
  operationKind: notes.operationKind ?? undefined,
  bytesIn: end.bytesIn,
  bytesOut: end.bytesOut,
  userAgent: notes.userAgent === undefined ? undefined : cleaned(notes.userAgent),
});

/** Of a text that a client chose. */
const longestText = 120;
/** A program sends the same text each time. Of those who never do, the whole is forgotten now and then. */
const known = new Map<string, string>();
const mostKnown = 1_000;

/**
 * What a client wrote, fit for a line: printable ASCII, as other characters can steer a terminal or turn the text
 * round, not long, and without what looks like an API key.
 */
function cleaned(text: string): string {
  const short = text.slice(0, longestText);
  const before = known.get(short);
  if (before !== undefined) return before;
  const clean = short.replace(/[^\x20-\x7e]/g, '?').replace(/service_live_[\w-]*/g, 'service_live_***');
  if (known.size >= mostKnown) known.clear();
  known.set(short, clean);
  return clean;
}
