import { once } from 'node:events';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { httpLimits } from '../../src/lib/http-limits.ts';
import { cookieOf } from '../setup/api-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { codeOf, exchange, open, request } from './raw.ts';

/** So short that a test need not wait for them. */
const limits = {
  headersTimeout: 1_000,
  requestTimeout: 2_000,
  connectionsCheckingInterval: 100,
  timeout: 4_000,
};
/** On a busy machine one of ours may be slow enough to be refused as well: then it is sent again. */
const patiently = <Result>(ask: () => Promise<Result>): Promise<Result> =>
  vi.waitFor(ask, { timeout: 60_000, interval: 100 });

let server: TestServer;
let credential: string;
beforeAll(async () => {
  server = await startTestServer({ limits });
  const cookie = await patiently(async () => {
    const { client, login } = await createWorld(server);
    return cookieOf(await client.post('/api/v1/auth/login', login)) ?? expect.fail('no cookie');
  });
  credential = `Cookie: service_session=${cookie}`;
});
afterAll(() => server.close());

const sockets: Socket[] = [];
afterAll(() => {
  for (const socket of sockets) socket.destroy();
});

/** A connection that has sent this much, and what becomes of it. */
function begin(bytes: string) {
  const socket = open(server.baseUrl);
  sockets.push(socket);
  const state = { text: '', closed: false };
  socket.on('data', (chunk) => (state.text += chunk.toString('latin1')));
  socket.on('close', () => (state.closed = true));
  socket.write(bytes);
  return { socket, state };
}

const othersAreServed = () =>
  patiently(async () =>
    expect((await fetch(`${server.baseUrl}/health`, { headers: { Connection: 'close' } })).status).toBe(200),
  );
const untilClosed = (state: { readonly closed: boolean }) =>
  vi.waitFor(() => expect(state.closed).toBe(true), { timeout: 60_000, interval: 50 });

test('what is applied to a service is bounded in every respect, and shorter than Node.js has it', () => {
  expect(httpLimits).toEqual({
    maxHeaderSize: 16_384,
    headersTimeout: 15_000,
    requestTimeout: 120_000,
    connectionsCheckingInterval: 5_000,
    timeout: 150_000,
    keepAliveTimeout: 5_000,
  });
});

test.each([
  ['a reverse proxy, which keeps its connections for a minute, is closed later than that', '1', '75'],
  ['a client that comes by itself is closed soon', '0', '5'],
])('an idle connection of %s', async (_whose, TRUST_PROXY, seconds) => {
  const alone = await startTestServer({ database: 'memory', env: { TRUST_PROXY } });
  onTestFinished(() => alone.close());
  const answer = await fetch(`${alone.baseUrl}/health`);
  expect(answer.headers.get('keep-alive')).toBe(`timeout=${seconds}`);
});

describe('a client that is slow', { tags: 'slow', timeout: 300_000 }, () => {
  test.each([
    ['to send anything', ''],
    ['to end its request line', 'GET /hea'],
    ['to end its header fields', 'GET /health HTTP/1.1\r\nHost: x\r\nX-A: b\r\n'],
  ])('%s is answered 408 or closed in time, others meanwhile', async (_what, bytes) => {
    const { state } = begin(bytes);
    await othersAreServed();
    await untilClosed(state);
    if (state.text !== '') expect(state.text).toMatch(/^HTTP\/1\.1 408 .*"code":"REQUEST_TIMEOUT"/s);
  });

  test('header field by header field gains no time by it', async () => {
    const { socket, state } = begin('GET /health HTTP/1.1\r\nHost: x\r\n');
    const more = setInterval(() => socket.write('X-A: b\r\n'), 100);
    await othersAreServed();
    await untilClosed(state).finally(() => clearInterval(more));
    expect(state.text).not.toMatch(/^HTTP\/1\.1 200/);
  });

  test.each([
    ['byte by byte', 'Content-Length: 1000', 'a'],
    ['chunk by chunk', 'Transfer-Encoding: chunked', '1\r\na\r\n'],
  ])('with a body %s is closed in time, whoever it is', async (_what, framing, part) => {
    for (const [path, field] of [
      ['/api/v1/auth/login', 'X-A: b'],
      ['/api/v1/apps/create', credential],
      ['/api/v1/licenses/validate', 'X-A: b'],
      ['/graphql', 'X-A: b'],
    ] as const) {
      const fields = ['Host: x', 'Content-Type: application/json', framing, field];
      const { socket, state } = begin(request(`POST ${path} HTTP/1.1`, ...fields));
      const more = setInterval(() => socket.write(part), 100);
      await othersAreServed();
      await untilClosed(state).finally(() => clearInterval(more));
      expect(state.text, path).toMatch(/^(HTTP\/1\.1 408 |$)/);
    }
  });
});

test('a client that ends its side before its body is whole is closed, and no fault is logged', async () => {
  const before = server.logLines.length;
  const fields = ['Host: x', 'Content-Type: application/json', 'Content-Length: 100'];
  const { socket, state } = begin(`${request('POST /api/v1/auth/login HTTP/1.1', ...fields)}{"a`);
  socket.end();
  await untilClosed(state);
  const faults = server.logLines.slice(before).filter((line) => /unexpectedly|"level":50/.test(line));
  expect(faults).toEqual([]);
});

test('a client that ends its side after its request is answered', async () => {
  const { socket, state } = begin(request('GET /health HTTP/1.1', 'Host: x'));
  socket.end();
  await untilClosed(state);
  expect(state.text).toMatch(/^HTTP\/1\.1 200 /);
});

test('a client that reads none of its answers is given up, and others are served', {
  tags: 'slow',
}, async () => {
  const socket = open(server.baseUrl);
  sockets.push(socket);
  socket.pause();
  let closed = false;
  socket.on('close', () => (closed = true));
  await once(socket, 'connect');
  // More of them than the two kernels keep between them.
  const list = request('GET /api/v1/openapi.json HTTP/1.1', 'Host: x');
  const asking = setInterval(() => socket.write(list.repeat(20)), 20);
  try {
    await othersAreServed();
    await vi.waitFor(
      () => {
        if (socket.writableLength > 0) socket.write('');
        expect(closed || socket.destroyed || socket.errored !== null).toBe(true);
      },
      { timeout: 60_000, interval: 100 },
    );
  } finally {
    clearInterval(asking);
  }
  await othersAreServed();
});

test('five hundred connections that say nothing are closed in time, and others are served meanwhile', {
  tags: 'slow',
}, async () => {
  const idle = Array.from({ length: 500 }, () => begin(''));
  await Promise.all(Array.from({ length: 5 }, othersAreServed));
  await Promise.all(idle.map(({ state }) => untilClosed(state)));
  await othersAreServed();
});

describe('a body of 30 MB', { tags: 'slow' }, () => {
  const size = 30 * 1024 * 1024;
  const part = Buffer.alloc(256 * 1024, ' ');

  /** Sends it as long as the service takes it, and answers how much that was. */
  async function push(path: string, framing: string, field: string) {
    const socket = open(server.baseUrl);
    sockets.push(socket);
    let text = '';
    let isOver = false;
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('close', () => (isOver = true));
    await once(socket, 'connect');
    socket.write(
      request(`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Type: application/json', framing, field),
    );
    let sent = 0;
    while (sent < size && !isOver && text === '') {
      const isChunked = framing.startsWith('Transfer');
      if (isChunked) socket.write(`${part.length.toString(16)}\r\n`);
      const goesOn = socket.write(part);
      if (isChunked) socket.write('\r\n');
      sent += part.length;
      if (!goesOn) await Promise.race([once(socket, 'drain'), once(socket, 'close'), once(socket, 'data')]);
    }
    await vi.waitFor(() => expect(isOver || text.includes('"code"')).toBe(true), { timeout: 60_000 });
    socket.destroy();
    return { sent, text };
  }

  test.each([
    ['/api/v1/auth/login', 'X-A: b'],
    ['/api/v1/apps/create', () => credential],
    ['/api/v1/licenses/validate', 'X-A: b'],
    ['/graphql', 'X-A: b'],
  ] as const)(
    'to %s is refused with 413, its length told or not, and not gathered up',
    async (path, field) => {
      const own = typeof field === 'string' ? field : field();
      for (const framing of [`Content-Length: ${size}`, 'Transfer-Encoding: chunked']) {
        const { sent, text } = await push(path, framing, own);
        expect(text, framing).toMatch(/^HTTP\/1\.1 413 .*"code":"PAYLOAD_TOO_LARGE"/s);
        // What was sent before the answer came is what the limit takes, and what lies in buffers on the way.
        expect(sent, framing).toBeLessThan(size);
      }
    },
  );

  test('takes no more memory of the process than a few of the largest that are taken', async () => {
    await push('/api/v1/apps/create', 'Transfer-Encoding: chunked', credential);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().arrayBuffers)), 5);
    await Promise.all(
      Array.from({ length: 10 }, () => push('/api/v1/auth/login', 'Transfer-Encoding: chunked', 'X-A: b')),
    ).finally(() => clearInterval(watch));
    // Less than half of what is offered, however rarely memory is collected.
    expect(most - before).toBeLessThan(5 * size);
  });
});

test('a body that is compressed is not inflated: it is no JSON as it comes', async () => {
  const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024, ' '));
  expect(bomb.length).toBeLessThan(64 * 1024);
  for (const [path, field] of [
    ['/api/v1/auth/login', 'X-A: b'],
    ['/api/v1/apps/create', credential],
    ['/api/v1/licenses/validate', 'X-A: b'],
    ['/graphql', 'X-A: b'],
  ] as const) {
    for (const coding of ['gzip', 'deflate', 'br']) {
      const fields = ['Host: x', 'Content-Type: application/json', `Content-Encoding: ${coding}`, field];
      const head = request(`POST ${path} HTTP/1.1`, ...fields, `Content-Length: ${bomb.length}`);
      const { answers } = await exchange(server.baseUrl, Buffer.concat([Buffer.from(head), bomb]));
      expect([400, 415], path).toContain(answers[0]?.status);
      expect(answers[0] === undefined ? '' : codeOf(answers[0]), path).toMatch(
        /VALIDATION_FAILED|BAD_REQUEST/,
      );
    }
  }
});
