import { concatBytes, decodeUtf8 } from '../protocol/bytes.ts';
import type { JsonValue } from '../protocol/canonical-json.ts';
import { answerMaxBytes } from '../protocol/constants.ts';
import { failureOf, untilAborted } from './deadline.ts';
import { type Failure, untrusted } from './failure.ts';

interface HttpHead {
  readonly kind: 'http';
  readonly status: number;
  /** The `Retry-After` header, if it is a number of seconds. */
  readonly retryAfterSeconds: number | undefined;
}

export interface HttpBytes extends HttpHead {
  readonly body: Uint8Array;
}

export interface HttpAnswer extends HttpHead {
  /** The parsed JSON body; undefined if the body is not JSON. */
  readonly body: unknown;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
  /** The most that is read of the response. Default {@link answerMaxBytes}. */
  readonly maxBytes?: number;
}

export type Http = (request: HttpRequest, signal: AbortSignal) => Promise<HttpBytes | Failure>;
export type PostJson = (path: string, body: JsonValue, signal: AbortSignal) => Promise<HttpAnswer | Failure>;

/** Makes a function that sends requests and reads a bounded part of a response. It sends no cookies and follows no redirects. */
export function createHttp(baseUrl: string, fetch: typeof globalThis.fetch): Http {
  return async ({ path, maxBytes = answerMaxBytes, ...request }, signal) => {
    try {
      const sent = fetch(baseUrl + path, {
        ...request,
        redirect: 'error',
        credentials: 'omit',
        cache: 'no-store',
        signal,
      });
      const response = await untilAborted(sent, signal);
      // A custom fetch may ignore `redirect`.
      if (response.redirected) return untrusted('The service sent a redirect');
      const body = await readBounded(response, maxBytes, signal);
      if (body === null) return tooLong(maxBytes);
      const retryAfterSeconds = parseRetryAfter(response.headers.get('retry-after'));
      return { kind: 'http', status: response.status, retryAfterSeconds, body };
    } catch (thrown) {
      return failureOf(thrown, signal);
    }
  };
}

/** Makes a function that posts JSON, with the rules of {@link createHttp}. */
export function createPostJson(baseUrl: string, fetch: typeof globalThis.fetch): PostJson {
  const http = createHttp(baseUrl, fetch);
  return async (path, json, signal) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const answer = await http({ method: 'POST', path, headers, body: JSON.stringify(json) }, signal);
    if (answer.kind === 'failure') return answer;
    return decodeUtf8(answer.body) === null ? tooLong(answerMaxBytes) : withJsonBody(answer);
  };
}

/** Parses the body of an answer. */
export function withJsonBody({ body, ...head }: HttpBytes): HttpAnswer {
  const text = decodeUtf8(body);
  return { ...head, body: text === null ? undefined : parseJson(text) };
}

const tooLong = (maxBytes: number): Failure =>
  untrusted(`The response is longer than ${maxBytes} bytes or not UTF-8`);

async function readBounded(
  response: Response,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await untilAborted(reader.read(), signal);
      if (done) return concatBytes(...parts);
      length += value.length;
      if (length > maxBytes) return null;
      parts.push(value);
    }
  } finally {
    // Frees the connection if the body was not read to the end; otherwise this has no effect.
    reader.cancel().catch(() => undefined);
  }
}

function parseRetryAfter(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

/** Parses JSON; undefined if the text is malformed. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
