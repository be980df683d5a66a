/** A request as the bytes that go over a connection. */
export interface HttpRequest {
  readonly bytes: Buffer;
}

/** Makes a request to this machine, on a connection that is kept. */
export function httpRequest({
  method,
  path,
  headers = {},
  body,
  content = contentOf(body),
}: {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly content?: HttpContent | null;
}): HttpRequest {
  const fields = {
    Host: '127.0.0.1',
    Accept: 'application/json',
    ...(content !== null && {
      'Content-Type': content.type,
      'Content-Length': String(content.bytes.length),
    }),
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return { bytes: content === null ? head : Buffer.concat([head, content.bytes]) };
}

/** The body of a request, and its media type. */
export interface HttpContent {
  readonly type: string;
  readonly bytes: Uint8Array;
}

const contentOf = (body: unknown): HttpContent | null =>
  body === undefined ? null : { type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) };

export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
}

const endOfHead = '\r\n\r\n';

/**
 * Reads the one answer that these bytes are, by RFC 9112 §6: Content-Length or chunked, as a service that keeps its
 * connections must use.
 * @returns null while more is to come
 * @throws {Error} when the bytes are no such answer, or go beyond it
 */
export function parseAnswer(bytes: Buffer): HttpAnswer | null {
  const headLength = bytes.indexOf(endOfHead);
  if (headLength === -1) return null;
  const head = bytes.toString('latin1', 0, headLength);
  const rest = bytes.subarray(headLength + endOfHead.length);
  const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1];
  if (status === undefined) throw new Error(`No HTTP/1.1 answer: ${head.slice(0, 100)}`);
  const body = /\r\ntransfer-encoding: *chunked/i.test(head)
    ? readChunks(rest)
    : readLength(rest, /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);
  return body === null ? null : { status: Number(status), body };
}

function readLength(rest: Buffer, length: string | undefined): Buffer | null {
  if (length === undefined) throw new Error('The answer says neither how long it is nor that it is chunked');
  if (rest.length < Number(length)) return null;
  return endingAt(rest, Number(length));
}

/** Takes the chunks of RFC 9112 §7.1 together; the service sends neither extensions nor trailers. */
function readChunks(rest: Buffer): Buffer | null {
  const chunks: Buffer[] = [];
  for (let position = 0; ; ) {
    const endOfSize = rest.indexOf('\r\n', position);
    if (endOfSize === -1) return null;
    const size = Number.parseInt(rest.toString('latin1', position, endOfSize), 16);
    if (!Number.isSafeInteger(size)) throw new Error('The answer has a chunk without a size');
    const start = endOfSize + 2;
    position = start + size + 2;
    if (rest.length < position) return null;
    if (size === 0) {
      endingAt(rest, position);
      return Buffer.concat(chunks);
    }
    chunks.push(rest.subarray(start, start + size));
  }
}

/** One request is under way at a time, so that nothing may follow its answer. */
function endingAt(bytes: Buffer, length: number): Buffer {
  if (bytes.length > length) throw new Error('The connection has bytes beyond the answer');
  return bytes;
}
