import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { type RootFields, readAnswer, readEvent } from './answer.ts';
import { startDeadline } from './deadline.ts';
import { ManagementError } from './errors.ts';
import { orFailure, post, readWhole } from './http.ts';
import type { Settings } from './options.ts';

/** One connection of a subscription. */
export interface EventStream {
  /** The `Date` of the response in milliseconds since the Unix epoch; undefined if the header is missing or hidden. */
  readonly openedAt: number | undefined;
  /**
   * Yields results in order, read on demand. Ends when the service completes the stream.
   * @throws {ManagementError} an error in the stream; NETWORK if the connection was lost; TIMEOUT if no data arrived in
   *   time
   */
  results(): AsyncGenerator<RootFields, void, undefined>;
}

/** Maximum length of one event, in characters. */
const maxEventLength = 4 * 1024 * 1024;

/**
 * Opens the event stream of a subscription in graphql-sse's "distinct connections" mode: `next` events with an execution
 * result each, `complete` at the end, and comments as keep-alives.
 * @param limits.timeout milliseconds until the stream must be open
 * @param limits.silence milliseconds without data after which the connection counts as lost
 * @param signal closes the connection; the caller must abort it when done
 * @throws {ManagementError} if the response is not an event stream
 */
export async function openEventStream(
  settings: Settings,
  body: { readonly query: string; readonly variables: unknown },
  limits: { readonly timeout: number; readonly silence: number },
  signal: AbortSignal,
): Promise<EventStream> {
  const opening = startDeadline(limits.timeout, signal);
  try {
    const response = await orFailure(opening.signal, () =>
      post(settings, body, { accept: 'text/event-stream' }, signal),
    );
    if (response.status !== 200 || !isEventStream(response)) {
      readAnswer(await readWhole(response, opening.signal));
      const message = 'The service returned a single result instead of an event stream';
      throw new ManagementError('BAD_ANSWER', message, { status: response.status });
    }
    return {
      openedAt: parseDate(response.headers.get('date')),
      results: () => readResults(response, limits.silence, signal),
    };
  } finally {
    opening.end();
  }
}

async function* readResults(
  response: Response,
  silence: number,
  signal: AbortSignal,
): AsyncGenerator<RootFields, void, undefined> {
  for await (const { event, data } of readMessages(response, silence, signal)) {
    if (event === 'complete') return;
    if (event === 'next') yield readEvent(data, response);
  }
}

/** Yields the messages of a body. It reads more only when earlier messages are consumed, which applies backpressure. */
async function* readMessages(
  response: Response,
  silence: number,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let received: EventSourceMessage[] = [];
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: (message) => received.push(message),
    onError: ({ type }) => {
      if (type !== 'max-buffer-size-exceeded') return;
      throw new ManagementError('BAD_ANSWER', `An event is longer than ${maxEventLength} characters`);
    },
  });
  try {
    for (;;) {
      const deadline = startDeadline(silence, signal);
      const read = orFailure(deadline.signal, () => reader.read());
      const { done, value } = await read.finally(() => deadline.end());
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      const messages = received;
      received = [];
      yield* messages;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

const isEventStream = (response: Response) =>
  response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() === 'text/event-stream';

function parseDate(header: string | null): number | undefined {
  const milliseconds = header === null ? Number.NaN : Date.parse(header);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
