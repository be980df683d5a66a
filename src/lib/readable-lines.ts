import { prettyFactory } from 'pino-pretty';

/** Converts a log line, one JSON object, to the text that is written instead. */
export type LineFormat = (line: string) => string;

/** Fields of request lines that the message already contains, or that only programs need. */
const omittedFields = [
  ...['transport', 'method', 'route', 'status', 'code', 'durationMilliseconds'],
  ...['bytesIn', 'bytesOut', 'userAgent', 'credential', 'operationKind'],
];

/** Formats lines for a terminal: time, level, message, then the other fields. */
export function readableLines({ color }: { readonly color: boolean }): LineFormat {
  const format = prettyFactory({
    colorize: color,
    translateTime: 'SYS:HH:MM:ss',
    singleLine: true,
    ignore: omittedFields.join(','),
    messageFormat:
      '{msg}{if method} {method}{end}{if route} {route}{end}{if status} {status}{end}{if code} {code}{end}{if durationMilliseconds} {durationMilliseconds} ms{end}',
  });
  return (line) => format(withoutControls(line));
}

/**
 * Replaces control characters, so that client input cannot control the operator's terminal. JSON escapes C0 controls
 * (RFC 8259 §7), but DEL, C1 and bidirectional controls appear literally. Line breaks are kept, for stack traces.
 */
const withoutControls = (line: string): string =>
  line
    .replace(/\\(u00[01][0-9a-f]|.)/gi, (whole, escaped) => (/^([bfr]|u00..)$/i.test(escaped) ? '?' : whole))
    .replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '?');
