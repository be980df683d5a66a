import { once } from 'node:events';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { httpLimits } from '../../src/http-limits.ts';
import { cookieOf } from '../setup/api-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { codeOf, exchange, open, request } from './raw.ts';

/** Short timeouts, so that tests need not wait. */
const limits = {
  headersTimeout: 1_000,
  requestTimeout: 2_000,
  connectionsCheckingInterval: 100,
  timeout: 4_000,
};
/** On a busy machine, a normal request may be too slow and be refused: then it is sent again. */
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

/** Opens a connection that has sent this text, and observes it. */
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

test('every connection limit is set, and stricter than the default of Node.js', () => {
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

describe('a slow client', { tags: 'slow', timeout: 300_000 }, () => {
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

  test('that sends one header field at a time gets no more time', async () => {
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

test('a client that ends its side before its body is complete is closed, and no error is logged', async () => {
  const before = server.logLines.length;
  const fields = ['Host: x', 'Content-Type: application/json', 'Content-Length: 100'];
  const { socket, state } = begin(`${request('POST /api/v1/auth/login HTTP/1.1', ...fields)}{"a`);
  socket.end();
  await untilClosed(state);
  const faults = server.logLines.slice(before).filter((line) => /unexpectedly|"level":50/.test(line));
  expect(faults).toEqual([]);
});

test('a client that ends its side after its request gets a response', async () => {
  const { socket, state } = begin(request('GET /health HTTP/1.1', 'Host: x'));
  socket.end();
  await untilClosed(state);
  expect(state.text).toMatch(/^HTTP\/1\.1 200 /);
});

test('a client that does not read its responses is disconnected, and others are served', {
  tags: 'slow',
}, async () => {
  const socket = open(server.baseUrl);
  sockets.push(socket);
  socket.pause();
  let closed = false;
  socket.on('close', () => (closed = true));
  await once(socket, 'connect');
  // More than the socket buffers of both sides hold.
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

test('five hundred silent connections are closed in time, and others are served', {
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

  /** Sends it while the service accepts it, and returns the number of bytes. */
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
    'to %s is refused with 413, with or without a declared length, and not buffered',
    async (path, field) => {
      const own = typeof field === 'string' ? field : field();
      for (const framing of [`Content-Length: ${size}`, 'Transfer-Encoding: chunked']) {
        const { sent, text } = await push(path, framing, own);
        expect(text, framing).toMatch(/^HTTP\/1\.1 413 .*"code":"PAYLOAD_TOO_LARGE"/s);
        // The bytes sent before the response are those within the limit and those in socket buffers.
        expect(sent, framing).toBeLessThan(size);
      }
    },
  );

  test('uses no more memory than a few of the largest accepted bodies', async () => {
    await push('/api/v1/apps/create', 'Transfer-Encoding: chunked', credential);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().arrayBuffers)), 5);
    await Promise.all(
      Array.from({ length: 10 }, () => push('/api/v1/auth/login', 'Transfer-Encoding: chunked', 'X-A: b')),
    ).finally(() => clearInterval(watch));
    // Less than half of the bytes offered, however rarely garbage is collected.
    expect(most - before).toBeLessThan(5 * size);
  });
});

test('a compressed body is not decompressed, so it is not JSON', async () => {
  const bomb = gzipSync(Buffer.alloc(20 * 1024 * 1024, ' '));
  expect(bomb.length).toBeLessThan(64 * 1024);
  const sent = [
    ['/api/v1/auth/login', 'X-A: b'],
    ['/api/v1/apps/create', credential],
    ['/api/v1/licenses/validate', 'X-A: b'],
    ['/graphql', 'X-A: b'],
  ].flatMap(([path = '', field = '']) =>
    ['gzip', 'deflate', 'br'].map(async (coding) => {
      const fields = ['Host: x', 'Content-Type: application/json', `Content-Encoding: ${coding}`, field];
      const head = request(`POST ${path} HTTP/1.1`, ...fields, `Content-Length: ${bomb.length}`);
      const { answers } = await exchange(server.baseUrl, Buffer.concat([Buffer.from(head), bomb]));
      expect([400, 415], path).toContain(answers[0]?.status);
      expect(answers[0] === undefined ? '' : codeOf(answers[0]), path).toMatch(
        /VALIDATION_FAILED|BAD_REQUEST/,
      );
    }),
  );
  await Promise.all(sent);
});
