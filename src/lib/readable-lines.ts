import { prettyFactory } from 'pino-pretty';

/** Turns a log line, one JSON object, into the text that is written instead. */
export type LineFormat = (line: string) => string;

/** Fields of a request's line that its message has already, or that only a program reads. */
const leftOut = [
  ...['transport', 'method', 'route', 'status', 'code', 'durationMilliseconds'],
  ...['bytesIn', 'bytesOut', 'userAgent', 'credential', 'operationKind'],
];

/** Lines for a person at a terminal: time, level, message, and the other fields behind it. */
export function readableLines({ color }: { readonly color: boolean }): LineFormat {
  const format = prettyFactory({
    colorize: color,
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    ignore: leftOut.join(','),
    messageFormat:
      '{msg}{if method} {method}{end}{if route} {route}{end}{if status} {status}{end}{if code} {code}{end}{if durationMilliseconds} {durationMilliseconds} ms{end}',
  });
  return (line) => format(withoutControls(line));
}

/**
 * Replaces control characters: a text that a client chose could otherwise steer the operator's terminal. JSON escapes
 * C0 controls (RFC 8259 §7); DEL, C1 and bidirectional controls stand as they are. Line breaks stay, as in a stack.
 */
const withoutControls = (line: string): string =>
  line
    .replace(/\\(u00[01][0-9a-f]|.)/gi, (whole, escaped) => (/^([bfr]|u00..)$/i.test(escaped) ? '?' : whole))
    .replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '?');
