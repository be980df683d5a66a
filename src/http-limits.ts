import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { newId } from './lib/ids.ts';

/** Limits per connection, with the names of Node.js's options. Times are in milliseconds. */
export interface HttpLimits {
  /** Request line and header fields, in bytes. */
  readonly maxHeaderSize: number;
  /** Time to receive all header fields, from the connection or the end of the last request. */
  readonly headersTimeout: number;
  /** Time to receive the whole request. */
  readonly requestTimeout: number;
  /** How often the two timeouts above are checked. */
  readonly connectionsCheckingInterval: number;
  /** Maximum inactivity in both directions while a request is served. */
  readonly timeout: number;
  /** How long an idle connection is kept open. */
  readonly keepAliveTimeout: number;
}

/**
 * In `requestTimeout` a developer can send the largest body of 8 MiB at half a megabit per second. `timeout` drops clients
 * that do not read their response, which Node.js would otherwise hold in memory forever. It is longer than
 * `requestTimeout`, so that a stalled upload still gets a 408. Event streams send data every few seconds.
 */
export const httpLimits: HttpLimits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 15_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 5_000,
  timeout: 150_000,
  keepAliveTimeout: 5_000,
};

/**
 * Longer than the minute for which reverse proxies typically keep connections, so that the proxy closes them first: a
 * request sent on a connection that the service just closed is a 502 for the client. Proxies have few connections; direct
 * clients have many, so theirs are closed sooner.
 */
const behindProxy: Pick<HttpLimits, 'keepAliveTimeout'> = { keepAliveTimeout: 75_000 };

/** @param trustProxy number of reverse proxies in front of the service */
export const httpLimitsBehind = (trustProxy: number): HttpLimits =>
  trustProxy === 0 ? httpLimits : { ...httpLimits, ...behindProxy };

interface Refusal {
  readonly status: string;
  readonly code: string;
  readonly error: string;
}

/** The error for input that is not a valid HTTP request. */
export const malformedRequest: Refusal = {
  status: '400 Bad Request',
  code: 'VALIDATION_FAILED',
  error: 'Malformed HTTP/1.1 request.',
};

/** The error for an `Expect` header other than `100-continue`. */
const unknownExpectation = {
  status: 417,
  code: 'EXPECTATION_FAILED',
  error: 'Unsupported Expect header: only 100-continue is supported.',
} as const;

const refusals: ReadonlyMap<unknown, Refusal> = new Map([
  [
    'HPE_HEADER_OVERFLOW',
    {
      status: '431 Request Header Fields Too Large',
      code: 'HEADERS_TOO_LARGE',
      error: `The request line and header fields exceed ${httpLimits.maxHeaderSize.toLocaleString('en-US')} bytes.`,
    },
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    {
      status: '413 Payload Too Large',
      code: 'PAYLOAD_TOO_LARGE',
      error: 'The chunk extensions of the request body are too large.',
    },
  ],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    {
      status: '408 Request Timeout',
      code: 'REQUEST_TIMEOUT',
      error: 'The request was not received in time.',
    },
  ],
]);

/** The common error body, for requests rejected before routing. */
export const refusalBody = ({ code, error }: Pick<Refusal, 'code' | 'error'>): string =>
  JSON.stringify({
    success: false,
    error,
    code,
    ...(code === malformedRequest.code && { issues: [{ path: [], message: error }] }),
  });

/** Header fields of a response with this body, for requests rejected before routing. */
export const refusalFields = (
  body: string,
  fields: Readonly<Record<string, string>>,
): Record<string, string> => ({
  'Content-Type': 'application/json',
  'Content-Length': String(Buffer.byteLength(body)),
  'X-Request-Id': newId(),
  ...fields,
});

/**
 * Limits connections, and answers input that Node.js rejects before it becomes a request, with the common error body and
 * header fields. It then closes the connection, because the start of the next request is ambiguous: servers that disagree
 * about it allow request smuggling past a proxy.
 */
export function limitConnections(
  server: Server,
  fields: Readonly<Record<string, string>>,
  { timeout }: Pick<HttpLimits, 'timeout'> = httpLimits,
): void {
  server.timeout = timeout;
  // Each connection's unfinished responses and its latest one: requests can be pipelined.
  const answers = new WeakMap<Duplex, readonly ServerResponse[]>();
  const remember = (socket: Duplex, answer: ServerResponse): void => {
    if (!answers.has(socket)) socket.once('close', () => answers.get(socket)?.forEach(endInLine));
    const open = answers.get(socket)?.filter((earlier) => !earlier.writableFinished) ?? [];
    answers.set(socket, [...open, answer]);
  };
  server.prependListener('request', ({ socket }, answer) => remember(socket, answer));
  server.on('checkExpectation', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    remember(socket, answer);
    const body = refusalBody(unknownExpectation);
    answer.writeHead(unknownExpectation.status, refusalFields(body, fields)).end(body);
  });
  server.on('clientError', (error, socket) => {
    if (!socket.writable || answers.get(socket)?.some(isOwed)) {
      socket.destroy();
      return;
    }
    const refusal = refusals.get('code' in error ? error.code : undefined) ?? malformedRequest;
    const body = refusalBody(refusal);
    const head = [
      `HTTP/1.1 ${refusal.status}`,
      ...Object.entries({
        ...refusalFields(body, fields),
        Connection: 'close',
      }).map(([name, value]) => `${name}: ${value}`),
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
  });
}

/**
 * Ends a queued response whose connection has closed. Node.js notifies only the response being sent, not the pipelined
 * ones behind it, so code waiting for them to close would count them and hold their memory forever.
 */
function endInLine(answer: ServerResponse): void {
  if (answer.socket !== null || answer.writableFinished || answer.destroyed) return;
  answer.destroy();
  answer.emit('close');
}

/**
 * Whether an error written to the connection could be taken for the response to an earlier request: one that was received
 * completely and may have been executed, or one whose response started early.
 */
const isOwed = ({ req, headersSent, writableFinished }: ServerResponse): boolean =>
  (req.complete || headersSent) && !(req.complete && writableFinished);
