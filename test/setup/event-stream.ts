import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { z } from 'zod';
import type { ApiClient } from './api-client.ts';

const result = z.strictObject({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z
    .array(z.looseObject({ message: z.string(), extensions: z.looseObject({ code: z.string() }) }))
    .optional(),
});
export type StreamedResult = z.infer<typeof result>;

/** A `/graphql` response as server-sent events, read as they arrive. */
export interface EventStream {
  readonly status: number;
  readonly headers: Headers;
  /** The next result; null if the stream completed. Rejects if the connection broke, or after a timeout. */
  next(milliseconds?: number): Promise<StreamedResult | null>;
  /** The next values of the operation's only field. */
  take<Value = Record<string, unknown>>(count: number): Promise<Value[]>;
  /** All results until the stream completes. */
  rest(): Promise<StreamedResult[]>;
  /** Comments received so far: heartbeats. */
  readonly comments: number;
  /** Disconnects, like a closed browser tab. */
  close(): void;
}

export interface EventStreamRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** GET, like a browser's EventSource, or POST. */
  readonly method?: 'GET' | 'POST';
}

const generous = 20_000;

/** Requests an operation's results as a stream. */
export async function openEventStream(client: ApiClient, request: EventStreamRequest): Promise<EventStream> {
  const { query, variables = {}, method = 'POST' } = request;
  const gone = new AbortController();
  const asking = client.with({ headers: { Accept: 'text/event-stream' } });
  const search = new URLSearchParams({ query, variables: JSON.stringify(variables) });
  const response =
    method === 'GET'
      ? await asking.open('GET', `/graphql?${search}`, undefined, gone.signal)
      : await asking.open('POST', '/graphql', { query, variables }, gone.signal);
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    throw new Error(`No event stream but ${response.status}: ${await response.text()}`);
  }
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) throw new Error('The answer has no body');

  const waiting: EventSourceMessage[] = [];
  let comments = 0;
  const parser = createParser({
    onEvent: (event) => waiting.push(event),
    onComment: () => {
      comments += 1;
    },
  });

  async function nextEvent(): Promise<EventSourceMessage> {
    for (;;) {
      const event = waiting.shift();
      if (event !== undefined) return event;
      const { done, value } = await (reader as ReadableStreamDefaultReader<string>).read();
      if (done) throw new Error('The connection ended without the stream completing');
      parser.feed(value);
    }
  }

  // Kept after a timeout, so that the next call continues to wait.
  let pending: Promise<EventSourceMessage> | undefined;

  async function next(milliseconds = generous): Promise<StreamedResult | null> {
    pending ??= nextEvent();
    const event = await within(milliseconds, pending);
    pending = undefined;
    switch (event.event) {
      case 'next':
        return result.parse(JSON.parse(event.data));
      case 'complete':
        return null;
      default:
        throw new Error(`An event that is neither next nor complete: ${event.event}`);
    }
  }

  return {
    status: response.status,
    headers: response.headers,
    next,
    async take<Value>(count: number) {
      const values: Value[] = [];
      while (values.length < count) {
        const found = await next();
        if (found === null || found.errors !== undefined || found.data === null) {
          throw new Error(`Got ${JSON.stringify(found)} after ${values.length} of ${count}`);
        }
        values.push(Object.values(found.data ?? {})[0] as Value);
      }
      return values;
    },
    async rest() {
      const results: StreamedResult[] = [];
      for (let found = await next(); found !== null; found = await next()) results.push(found);
      return results;
    },
    get comments() {
      return comments;
    },
    close: () => gone.abort(),
  };
}

async function within<Value>(milliseconds: number, promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Nothing came within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
