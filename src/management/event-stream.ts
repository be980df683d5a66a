import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { type RootFields, readAnswer, readEvent } from './answer.ts';
import { startDeadline } from './deadline.ts';
import { ManagementError } from './errors.ts';
import { orFailure, post, readWhole } from './http.ts';
import type { Settings } from './options.ts';

/** One connection of a subscription. */
export interface EventStream {
  /** The server's time when it answered, in milliseconds since the Unix epoch; undefined where it is hidden. */
  readonly openedAt: number | undefined;
  /**
   * Results in order, each read when it is asked for. Ends when the service completes the stream.
   * @throws {ManagementError} an error in the stream; NETWORK when it broke off, TIMEOUT when it fell silent
   */
  results(): AsyncGenerator<RootFields, void, undefined>;
}

/** Characters of one event that are kept while it comes. */
const longestEvent = 4 * 1024 * 1024;

/**
 * Opens the event stream of a subscription, in the form of graphql-sse's "distinct connections": `next` events with an
 * execution result each, `complete` at the end, comments as signs of life.
 * @param limits.timeout milliseconds until it is open
 * @param limits.silence milliseconds without a byte after which the connection is taken for dead
 * @param signal ends the connection, whatever became of it: abort it when you are done
 * @throws {ManagementError} for an answer that is no event stream
 */
export async function openEventStream(
  settings: Settings,
  body: { readonly query: string; readonly variables: unknown },
  limits: { readonly timeout: number; readonly silence: number },
  signal: AbortSignal,
): Promise<EventStream> {
  const opening = startDeadline(limits.timeout, signal);
  try {
    const response = await orFailure(opening.signal, () => post(settings, body, 'text/event-stream', signal));
    if (response.status !== 200 || !isEventStream(response)) {
      readAnswer(await readWhole(response, opening.signal));
      const message = 'The service answers with a result and not with a stream of events';
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

/** The messages of a body. It is read on when those that came are used up, so that a slow reader slows the sender. */
async function* readMessages(
  response: Response,
  silence: number,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let came: EventSourceMessage[] = [];
  const parser = createParser({
    maxBufferSize: longestEvent,
    onEvent: (message) => came.push(message),
    onError: ({ type }) => {
      if (type !== 'max-buffer-size-exceeded') return;
      throw new ManagementError('BAD_ANSWER', `An event has more than ${longestEvent} characters`);
    },
  });
  try {
    for (;;) {
      const deadline = startDeadline(silence, signal);
      const read = orFailure(deadline.signal, () => reader.read());
      const { done, value } = await read.finally(() => deadline.end());
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      const messages = came;
      came = [];
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
