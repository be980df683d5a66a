import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { newId } from './ids.ts';

/** What one connection may take of the process. Times are in milliseconds. */
export interface HttpLimits {
  /** Request line and header fields, in bytes. */
  readonly maxHeaderSize: number;
  /** From the connection, or from the end of the last request, until the header fields are whole. */
  readonly headersTimeout: number;
  /** Until the whole request is there. */
  readonly requestTimeout: number;
  /** How often the two above are looked at. */
  readonly connectionsCheckingInterval: number;
  /** How long nothing may move in either direction, while a request is answered. */
  readonly timeout: number;
  /** How long a connection is kept for a next request. */
  readonly keepAliveTimeout: number;
}

/**
 * A client sends its header fields at once, and a developer's largest body of 8 MiB over half a megabit in two minutes.
 * One that does not read its answer is given up a little later: Node.js by itself would hold that answer for ever. It
 * is later so that a body that stalls is told so. An event stream moves every few seconds.
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
 * Longer than the minute for which reverse proxies keep their connections: whoever closes first should be the one that
 * sends, as a request that meets a closed connection is a 502 to a customer. Connections of proxies are few; those of
 * customers' own programs are not, and are kept no longer than they are good for.
 */
const keptForProxy: Pick<HttpLimits, 'keepAliveTimeout'> = { keepAliveTimeout: 75_000 };

/** @param trustProxy how many reverse proxies stand in front */
export const httpLimitsBehind = (trustProxy: number): HttpLimits =>
  trustProxy === 0 ? httpLimits : { ...httpLimits, ...keptForProxy };

interface Refusal {
  readonly status: string;
  readonly code: string;
  readonly error: string;
}

/** The refusal of what is no request, for whatever else is wrong with it. */
export const unreadableRequest: Refusal = {
  status: '400 Bad Request',
  code: 'VALIDATION_FAILED',
  error: 'This is no HTTP/1.1 request that can be read.',
};

/** The refusal of what a request asks for before it sends its body, other than the word to go on. */
const unknownExpectation = {
  status: 417,
  code: 'EXPECTATION_FAILED',
  error: 'Of what Expect can ask for, the service knows 100-continue alone.',
} as const;

const refusals: ReadonlyMap<unknown, Refusal> = new Map([
  [
    'HPE_HEADER_OVERFLOW',
    {
      status: '431 Request Header Fields Too Large',
      code: 'HEADERS_TOO_LARGE',
      error: `Request line and header fields may have ${httpLimits.maxHeaderSize.toLocaleString('en-US')} bytes together.`,
    },
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    {
      status: '413 Payload Too Large',
      code: 'PAYLOAD_TOO_LARGE',
      error: 'The chunks of the request body have too much beside their bytes.',
    },
  ],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    {
      status: '408 Request Timeout',
      code: 'REQUEST_TIMEOUT',
      error: 'The request was not whole in time.',
    },
  ],
]);

/** The one error shape, of a request that no route sees. */
export const refusalBody = ({ code, error }: Pick<Refusal, 'code' | 'error'>): string =>
  JSON.stringify({
    success: false,
    error,
    code,
    ...(code === unreadableRequest.code && { issues: [{ path: [], message: error }] }),
  });

/** The header fields of an answer with this body to a request that no route sees. */
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
 * Bounds what connections take, and answers what Node.js refuses before it is a request: in the one error shape, with
 * the header fields of every answer. Then the connection is closed, as nobody can tell where a next request begins:
 * two servers that disagree about it are how requests are smuggled past a proxy.
 */
export function limitConnections(
  server: Server,
  fields: Readonly<Record<string, string>>,
  { timeout }: Pick<HttpLimits, 'timeout'> = httpLimits,
): void {
  server.timeout = timeout;
  // Those of a connection that are not finished, and the latest: requests may be sent one behind the other.
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
    const refusal = refusals.get('code' in error ? error.code : undefined) ?? unreadableRequest;
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
 * Ends a queued answer whose connection has closed. Node.js notifies only the answer that it is sending, not those in the
 * queue behind it: code that waits for their end would count them, and hold their bytes, forever.
 */
function endInLine(answer: ServerResponse): void {
  if (answer.socket !== null || answer.writableFinished || answer.destroyed) return;
  answer.destroy();
  answer.emit('close');
}

/**
 * Whether a refusal would be read as the answer to another request: one that is whole, and may have been carried out, or
 * one that is answered before it is whole.
 */
const isOwed = ({ req, headersSent, writableFinished }: ServerResponse): boolean =>
  (req.complete || headersSent) && !(req.complete && writableFinished);
