import type { Server, ServerResponse } from 'node:http';
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
export const refusalBody = ({ code, error }: Refusal): string =>
  JSON.stringify({
    success: false,
    error,
    code,
    ...(code === unreadableRequest.code && { issues: [{ path: [], message: error }] }),
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
  const answers = new WeakMap<Duplex, ServerResponse>();
  server.prependListener('request', ({ socket }, response) => answers.set(socket, response));
  server.on('clientError', (error, socket) => {
    const answer = answers.get(socket);
    // A request that is answered before it is whole gets no second answer: the reader would take it for another's.
    const isAnswered = answer?.headersSent === true && !(answer.writableFinished && answer.req.complete);
    if (!socket.writable || isAnswered) {
      socket.destroy();
      return;
    }
    const refusal = refusals.get('code' in error ? error.code : undefined) ?? unreadableRequest;
    const body = refusalBody(refusal);
    const head = [
      `HTTP/1.1 ${refusal.status}`,
      ...Object.entries({
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(body)),
        Connection: 'close',
        'X-Request-Id': newId(),
        ...fields,
      }).map(([name, value]) => `${name}: ${value}`),
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
  });
}
