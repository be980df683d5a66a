import type { ServerResponse } from 'node:http';
import { describe, expect } from 'vitest';
import { type FollowOptions, type Reconnect, TypedDocumentString } from '../../src/management/index.ts';
import {
  data,
  failed,
  hangUp,
  json,
  type Reply,
  rejectionOf,
  reply,
  type StandIn,
  silence,
  test,
} from './stand-in.ts';

interface Entry {
  readonly id: string;
  readonly code: string;
}
interface Variables {
  readonly applicationId: string;
  readonly after?: string | null;
}

const document = new TypedDocumentString<{ securityLog: Entry | null }, Variables>(
  'subscription ($applicationId: ID!, $after: ID) { securityLog(applicationId: $applicationId, after: $after) { id code } }',
);
const variables = { applicationId: 'a' };

/** Short pauses for tests. */
const quick = { firstPauseMilliseconds: 1, longestPauseMilliseconds: 5 };

const idOf = (number: number) => `019b2c6e-7d1a-7c3f-9d55-${String(number).padStart(12, '0')}`;
const next = (result: unknown) => `event: next\ndata: ${JSON.stringify(result)}\n\n`;
const entries = (...numbers: number[]) =>
  numbers.map((number) => next({ data: { securityLog: { id: idOf(number), code: 'OK' } } })).join('');
const refusal = (code: string) =>
  next({ data: { securityLog: null }, errors: [{ message: `No: ${code}`, extensions: { code } }] });
const complete = 'event: complete\ndata:\n\n';

const begin = (response: ServerResponse, text: string, headers: Record<string, string> = {}) => {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', ...headers });
  response.write(`:\n\n${text}`);
};

/** A stream that ends normally. */
const ended =
  (text: string): Reply =>
  (response) => {
    begin(response, text + complete);
    response.end();
  };

/** A stream that continues. */
const open =
  (text: string, headers?: Record<string, string>): Reply =>
  (response) =>
    begin(response, text, headers);

/** A stream whose connection breaks, possibly in the middle of an event. */
const broken =
  (text: string): Reply =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => response.destroy());
  };

/** Reads the numbers of the first entries, then leaves the loop. */
async function take(server: StandIn, count: number, options: FollowOptions = {}, after?: string) {
  const came: number[] = [];
  const stream = server.client().follow(document, { ...variables, after }, { ...quick, ...options });
  for await (const { id } of stream) {
    came.push(Number(id.slice(-12)));
    if (came.length === count) break;
  }
  return came;
}

const askedAfter = (server: StandIn) => server.seen.map((request) => request.variables?.after);

test('it requests an event stream and yields the entries in order', async ({ server }) => {
  server.answer(open(entries(1, 2, 3)));
  expect(await take(server, 3)).toEqual([1, 2, 3]);
  expect(server.seen).toMatchObject([
    { headers: { accept: 'text/event-stream' }, query: String(document), variables },
  ]);
});

test('leaving the loop closes the connection', async ({ server }) => {
  server.answer(open(entries(1, 2)));
  await take(server, 1);
  await expect.poll(() => server.open()).toBe(0);
  expect(server.seen).toHaveLength(1);
});

test('it resumes after the last entry if the service ends the stream or the connection breaks', async ({
  server,
}) => {
  server.answer(
    ended(entries(1, 2)),
    broken(entries(3)),
    hangUp,
    reply(502, '<p>Starting'),
    open(entries(4)),
  );
  expect(await take(server, 4)).toEqual([1, 2, 3, 4]);
  expect(askedAfter(server)).toEqual([undefined, idOf(2), idOf(3), idOf(3), idOf(3)]);
});

test('a partial event is not delivered, and is requested again', async ({ server }) => {
  server.answer(broken(entries(1, 2).slice(0, -10)), open(entries(2)));
  expect(await take(server, 2)).toEqual([1, 2]);
  expect(askedAfter(server)).toEqual([undefined, idOf(1)]);
});

test('events are complete, however they are split into chunks', async ({ server }) => {
  const text = next({ data: { securityLog: { id: idOf(1), code: 'Grüße 🔑' } } });
  server.answer(async (response) => {
    begin(response, '');
    for (const byte of Buffer.from(text.replaceAll('\n', '\r\n'))) {
      response.write(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  const stream = server.client().follow(document, variables);
  expect((await stream.next()).value).toEqual({ id: idOf(1), code: 'Grüße 🔑' });
  await stream.return();
});

test('a repeated entry is delivered once, and a late entry is not mistaken for one', async ({ server }) => {
  server.answer(ended(entries(1, 3)), ended(entries(1, 3, 4, 2)), open(entries(4, 5)));
  expect(await take(server, 5)).toEqual([1, 3, 4, 2, 5]);
  expect(askedAfter(server)).toEqual([undefined, idOf(3), idOf(4)]);
});

test('it resumes after the last entry even if ids restart at a lower value because the clock was set back', async ({
  server,
}) => {
  const future = '019c2c6e-7d1a-7c3f-9d55-000000000009';
  server.answer(
    ended(next({ data: { securityLog: { id: future, code: 'OK' } } }) + entries(1, 2)),
    open(entries(3)),
  );
  expect(await take(server, 4)).toEqual([9, 1, 2, 3]);
  expect(askedAfter(server)).toEqual([undefined, idOf(2)]);
});

test('it resumes after the last event, whatever its id: events come in the order of their sequence', async ({
  server,
}) => {
  const events = (...numbers: number[]) =>
    numbers
      .map((number) => next({ data: { securityLog: { id: idOf(number), code: 'OK', sequence: 1 } } }))
      .join('');
  server.answer(ended(events(9, 3)), broken(events(5)), open(events(4)));
  expect(await take(server, 4, {}, idOf(1))).toEqual([9, 3, 5, 4]);
  expect(askedAfter(server)).toEqual([idOf(1), idOf(3), idOf(5)]);
});

test("it begins after the caller's id", async ({ server }) => {
  server.answer(hangUp, open(entries(8)));
  expect(await take(server, 1, {}, idOf(7))).toEqual([8]);
  expect(askedAfter(server)).toEqual([idOf(7), idOf(7)]);
});

test('without an entry yet it resumes from the second of the first response', async ({ server }) => {
  const date = 'Fri, 20 Nov 2026 19:00:00 GMT';
  server.answer(
    (response) => {
      begin(response, complete, { date });
      response.end();
    },
    hangUp,
    ended(entries(1)),
    open(entries(2)),
  );
  await take(server, 2);
  const [first, second, third, fourth] = askedAfter(server);
  expect([first, third, fourth]).toEqual([undefined, second, idOf(1)]);
  const id = String(second);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7000-8000-0{12}$/);
  expect(Number.parseInt(id.slice(0, 13).replace('-', ''), 16)).toBe(Date.parse(date));
});

describe('a refusal ends it:', () => {
  test.for([
    ['UNAUTHENTICATED in the stream', 'UNAUTHENTICATED', open(entries(1) + refusal('UNAUTHENTICATED'))],
    ['APP_NOT_FOUND in the stream', 'APP_NOT_FOUND', open(entries(1) + refusal('APP_NOT_FOUND'))],
    ['an error of a field', 'INTERNAL', open(entries(1) + refusal('INTERNAL'))],
  ] as const)('%s', async ([, code, answer], { server }) => {
    server.answer(answer);
    expect(await rejectionOf(take(server, 9))).toMatchObject({ code, status: 200 });
    expect(server.seen).toHaveLength(1);
    await expect.poll(() => server.open()).toBe(0);
  });

  test.for([
    ['an error instead of a stream', 'UNAUTHENTICATED', failed('UNAUTHENTICATED', 'securityLog')],
    [
      'a failure in the shape of REST',
      'FORBIDDEN',
      json(403, { success: false, error: 'No', code: 'FORBIDDEN' }),
    ],
    ['a result instead of a stream', 'BAD_ANSWER', data({ securityLog: { id: idOf(1) } })],
    ['a page of another server', 'BAD_ANSWER', reply(404, '<p>Hi', { 'content-type': 'text/html' })],
    ['too many followers', 'TOO_MANY_SUBSCRIPTIONS', failed('TOO_MANY_SUBSCRIPTIONS', 'securityLog')],
    ['an event that is no JSON', 'BAD_ANSWER', open('event: next\ndata: {"data"\n\n')],
    ['an event without end', 'BAD_ANSWER', open(`event: next\ndata: ${'x'.repeat(5_000_000)}`)],
  ] as const)('%s', async ([, code, answer], { server }) => {
    server.answer(answer);
    expect(await rejectionOf(take(server, 9))).toMatchObject({ name: 'ManagementError', code });
    expect(server.seen).toHaveLength(1);
  });

  test('an entry without an id, because the stream could not be resumed after it', async ({ server }) => {
    server.answer(open(next({ data: { securityLog: { code: 'OK' } } })));
    await expect(take(server, 1)).rejects.toThrow('The document must select id');
  });
});

describe('an unavailable service', () => {
  test('at the start is an error after as many retries as for a query', async ({ server }) => {
    server.answer(hangUp);
    expect(await rejectionOf(take(server, 1))).toMatchObject({ code: 'NETWORK' });
    expect(server.seen).toHaveLength(3);
  });

  test('later is retried with growing pauses', async ({ server }) => {
    const reconnects: Reconnect[] = [];
    server.answer(
      ended(entries(1)),
      ...Array.from({ length: 9 }, () => hangUp),
      ended(entries(2)),
      open(entries(3)),
    );
    const options = {
      firstPauseMilliseconds: 1,
      longestPauseMilliseconds: 40,
      onReconnect: (reconnect: Reconnect) => reconnects.push(reconnect),
    };
    expect(await take(server, 3, options)).toEqual([1, 2, 3]);
    expect(reconnects.map(({ error }) => error?.code)).toEqual([
      undefined,
      ...Array(9).fill('NETWORK'),
      undefined,
    ]);
    expect(reconnects.map(({ failures }) => failures)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1]);
    for (const { failures, pauseMilliseconds } of reconnects) {
      const whole = Math.min(40, 2 ** (failures - 1));
      expect(pauseMilliseconds).toBeGreaterThanOrEqual(whole / 2);
      expect(pauseMilliseconds).toBeLessThanOrEqual(whole);
    }
  });

  test('is not retried before its Retry-After', async ({ server }) => {
    const reconnects: Reconnect[] = [];
    const limited = failed('RATE_LIMITED', 'securityLog', { 'retry-after': '1' });
    server.answer(ended(entries(1)), limited, open(entries(2)));
    await take(server, 2, { onReconnect: (reconnect) => reconnects.push(reconnect) });
    expect(reconnects.map(({ pauseMilliseconds }) => pauseMilliseconds >= 1_000)).toEqual([false, true]);
  });

  test('is retried if it still counts the lost connection, or if a proxy responds for it', async ({
    server,
  }) => {
    server.answer(
      ended(entries(1)),
      failed('TOO_MANY_SUBSCRIPTIONS', 'securityLog'),
      reply(404, '<p>Hi', { 'content-type': 'text/html' }),
      open(entries(2)),
    );
    expect(await take(server, 2)).toEqual([1, 2]);
  });

  test('that refuses after its return ends the iteration', async ({ server }) => {
    server.answer(ended(entries(1)), failed('APP_NOT_FOUND', 'securityLog'));
    expect(await rejectionOf(take(server, 2))).toMatchObject({ code: 'APP_NOT_FOUND' });
  });
});

test('a silent connection counts as broken, and heartbeats keep it alive', async ({ server }) => {
  const reconnects: Reconnect[] = [];
  const alive: Reply = (response) => {
    begin(response, entries(2));
    const beat = setInterval(() => response.write(':\n\n'), 20);
    setTimeout(() => response.write(entries(3)), 2_200);
    response.on('close', () => clearInterval(beat));
  };
  server.answer(open(entries(1)), alive);
  const options = {
    silenceMilliseconds: 1_000,
    onReconnect: (reconnect: Reconnect) => reconnects.push(reconnect),
  };
  expect(await take(server, 3, options)).toEqual([1, 2, 3]);
  expect(reconnects.map(({ error }) => error?.code)).toEqual(['TIMEOUT']);
  await expect.poll(() => server.open()).toBe(0);
});

test('a slow reader does not count as a silent connection', async ({ server }) => {
  server.answer(open(entries(1, 2)));
  const stream = server.client().follow(document, variables, { ...quick, silenceMilliseconds: 1_000 });
  await stream.next();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await stream.next()).toMatchObject({ value: { id: idOf(2) } });
  await stream.return();
  expect(server.seen).toHaveLength(1);
});

describe('a signal ends it quietly:', () => {
  test('while it waits for an entry', async ({ server }) => {
    server.answer(open(entries(1)));
    const controller = new AbortController();
    const ids: string[] = [];
    for await (const { id } of server.client().follow(document, variables, { signal: controller.signal })) {
      ids.push(id);
      setTimeout(() => controller.abort(), 20);
    }
    expect(ids).toEqual([idOf(1)]);
    await expect.poll(() => server.open()).toBe(0);
  });

  test('with received but unread entries', async ({ server }) => {
    server.answer(open(entries(1, 2, 3)));
    const controller = new AbortController();
    const ids: string[] = [];
    for await (const { id } of server.client().follow(document, variables, { signal: controller.signal })) {
      ids.push(id);
      controller.abort();
    }
    expect(ids).toEqual([idOf(1)]);
  });

  test('without a reader: the connection is closed too', async ({ server }) => {
    server.answer(open(entries(1, 2)));
    const controller = new AbortController();
    const stream = server.client().follow(document, variables, { signal: controller.signal });
    await stream.next();
    controller.abort();
    await expect.poll(() => server.open()).toBe(0);
  });

  test.for([
    ['before the first connection', [open(entries(1))], 0],
    ['while it connects', [silence], 1],
    ['in a pause', [ended(''), open('')], 1],
  ] as const)('%s', async ([, replies, requests], { server }) => {
    server.answer(...replies);
    const controller = new AbortController();
    if (requests === 0) controller.abort();
    const options = {
      signal: controller.signal,
      firstPauseMilliseconds: 60_000,
      longestPauseMilliseconds: 60_000,
    };
    const all = (async () => {
      for await (const _entry of server.client().follow(document, variables, options)) throw new Error('no');
    })();
    await expect.poll(() => server.seen.length).toBe(requests);
    setTimeout(() => controller.abort(), 20);
    await all;
    expect(server.seen).toHaveLength(requests);
  });
});

test('a query cannot be followed, and a subscription cannot be requested', async ({ server }) => {
  const query = new TypedDocumentString<{ me: Entry }, { after?: string }>('{ me { id } }');
  await expect(server.client().follow(query, {}).next()).rejects.toThrow(TypeError);
  await expect(server.client().request(document, variables)).rejects.toThrow(TypeError);
  expect(server.seen).toEqual([]);
});
