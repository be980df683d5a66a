import { concatBytes, decodeUtf8 } from '../protocol/bytes.ts';
import type { JsonValue } from '../protocol/canonical-json.ts';
import { answerMaxBytes } from '../protocol/constants.ts';
import { failureOf, untilAborted } from './deadline.ts';
import { type Failure, untrusted } from './failure.ts';

export interface HttpAnswer {
  readonly kind: 'http';
  readonly status: number;
  /** The `Retry-After` header, if it is a number of seconds. */
  readonly retryAfterSeconds: number | undefined;
  /** The parsed JSON body; undefined if the body is not JSON. */
  readonly body: unknown;
}

export type PostJson = (path: string, body: JsonValue, signal: AbortSignal) => Promise<HttpAnswer | Failure>;

/** Makes a function that posts JSON and reads at most {@link answerMaxBytes} of the response. It sends no cookies and follows no redirects. */
export function createPostJson(baseUrl: string, fetch: typeof globalThis.fetch): PostJson {
  return async (path, body, signal) => {
    try {
      const request = fetch(baseUrl + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(body),
        redirect: 'error',
        credentials: 'omit',
        cache: 'no-store',
        signal,
      });
      const response = await untilAborted(request, signal);
      // A custom fetch may ignore `redirect`.
      if (response.redirected) return untrusted('The service sent a redirect');
      const text = await readBounded(response, signal);
      if (text === null) return untrusted(`The response is longer than ${answerMaxBytes} bytes or not UTF-8`);
      return {
        kind: 'http',
        status: response.status,
        retryAfterSeconds: parseRetryAfter(response.headers.get('retry-after')),
        body: parseJson(text),
      };
    } catch (thrown) {
      return failureOf(thrown, signal);
    }
  };
}

async function readBounded(response: Response, signal: AbortSignal): Promise<string | null> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await untilAborted(reader.read(), signal);
      if (done) return decodeUtf8(concatBytes(...parts));
      length += value.length;
      if (length > answerMaxBytes) return null;
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
