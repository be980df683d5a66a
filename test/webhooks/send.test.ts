import { readFileSync } from 'node:fs';
import http, { type IncomingMessage, type RequestListener } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type AddressRange, parseAddressRange } from '../../src/lib/public-address.ts';
import type { ResolveHost } from '../../src/services/webhook/resolve.ts';
import { type SendOptions, sendWebhook } from '../../src/services/webhook/send.ts';
import { PrivateCa } from '../setup/private-ca.ts';

const loopback = parseAddressRange('127.0.0.0/8') as AddressRange;
const allowed = [loopback];

afterEach(() => vi.restoreAllMocks());

/** A server on loopback that is closed after the test. */
async function listen(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as net.AddressInfo).port;
}

/** Starts a receiver and returns its URL. */
const receive = async (listener: RequestListener): Promise<string> => {
  const server = http.createServer(listener);
  onTestFinished(() => server.closeAllConnections());
  return `http://127.0.0.1:${await listen(server)}/hook`;
};

const send = (url: string, options: Partial<SendOptions> = {}) =>
  sendWebhook({ url, headers: { 'x-sent': 'yes' }, body: '{"é":1}' }, { allowed, ...options });

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe('a request', () => {
  test('is a POST with its body and header fields, and its response is read', async () => {
    const received: unknown[] = [];
    const url = await receive(async (request, response) => {
      received.push([request.method, request.url, request.headers['x-sent'], await bodyOf(request)]);
      response.writeHead(202, { 'retry-after': '7' }).end('thank you');
    });
    const answer = await send(`${url}?a=b`);
    expect(answer).toMatchObject({ statusCode: 202, answer: 'thank you', error: null, retryAfter: '7' });
    expect(answer.latencyMilliseconds).toBeGreaterThanOrEqual(0);
    expect(received).toEqual([['POST', '/hook?a=b', 'yes', '{"é":1}']]);
  });

  test('does not follow a redirect', async () => {
    const paths: (string | undefined)[] = [];
    const url = await receive((request, response) => {
      paths.push(request.url);
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    expect(await send(url)).toMatchObject({ statusCode: 307, error: null });
    expect(paths).toEqual(['/hook']);
  });

  test('ends if the host switches to another protocol', async () => {
    const server = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    });
    const answer = await send(`http://127.0.0.1:${await listen(server)}/hook`);
    expect(answer).toMatchObject({ statusCode: null, error: 'The host switched to another protocol.' });
  });

  test('takes no proxy from the environment', async () => {
    const proxied = vi.fn();
    const proxy = await receive((_request, response) => {
      proxied();
      response.end();
    });
    vi.stubEnv('HTTP_PROXY', proxy);
    vi.stubEnv('http_proxy', proxy);
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await send(await receive((_request, response) => void response.end('direct')))).toMatchObject({
      answer: 'direct',
    });
    expect(proxied).not.toHaveBeenCalled();
  });

  test('has a connection of its own', async () => {
    const connections = new Set<unknown>();
    const url = await receive((request, response) => {
      connections.add(request.socket);
      response.end();
    });
    await send(url);
    await send(url);
    expect(connections.size).toBe(2);
  });
});

describe('of a response', () => {
  test('at most 1,024 bytes are read, and the rest is not waited for', async () => {
    const closed = vi.fn();
    const url = await receive((request, response) => {
      request.socket.once('close', closed);
      response.writeHead(200);
      const write = (): void => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    });
    expect(await send(url)).toMatchObject({ statusCode: 200, answer: 'x'.repeat(1_024) });
    await vi.waitFor(() => expect(closed).toHaveBeenCalled());
  });

  test('a character that the limit cuts is left out', async () => {
    const url = await receive((_request, response) => void response.end(`${'x'.repeat(1_023)}é`));
    expect((await send(url)).answer).toBe('x'.repeat(1_023));
  });

  test('NUL and bytes that are not UTF-8 are replaced', async () => {
    const url = await receive((_request, response) => void response.end(Buffer.from([65, 0, 255, 66])));
    expect((await send(url)).answer).toBe('A\u{FFFD}\u{FFFD}B');
  });

  test('the status counts even if the body breaks off', async () => {
    const url = await receive((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('only this', () => response.destroy());
    });
    expect(await send(url)).toMatchObject({ statusCode: 200, answer: 'only this', error: null });
  });
});

describe('an attempt fails in words', () => {
  test('if nothing listens', async () => {
    const server = net.createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({
      statusCode: null,
      error: 'The host refused the connection.',
    });
  });

  test('if the connection is closed without an answer', async () => {
    const port = await listen(net.createServer((socket) => socket.destroy()));
    expect((await send(`http://127.0.0.1:${port}/`)).error).toBe(
      'The host closed the connection without an answer.',
    );
  });

  test('if the host does not answer within the time limit', async () => {
    const url = await receive(() => undefined);
    expect((await send(url, { timeLimit: 200 })).error).toBe('There was no answer within 0.2 s.');
  });

  test('if DNS does not answer within the time limit', async () => {
    const resolve: ResolveHost = (_hostname, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('cancelled'))),
      );
    expect((await send('https://example.com/', { resolve, timeLimit: 50 })).error).toMatch(/^There was no/);
  });

  test('if the host does not speak HTTP, without what it sent', async () => {
    const port = await listen(net.createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6 secret\r\n')));
    const answer = await send(`http://127.0.0.1:${port}/`);
    expect(answer.error).toBe('The host did not answer with valid HTTP.');
    expect(JSON.stringify(answer)).not.toMatch(/OpenSSH|secret/);
  });

  test('if the head of the response is too long', async () => {
    const url = await receive((_request, response) =>
      response.writeHead(200, { long: 'x'.repeat(17_000) }).end(),
    );
    expect((await send(url)).error).toBe('The host did not answer with valid HTTP.');
  });
});

test('a request that the caller aborts throws', async () => {
  const stop = new AbortController();
  const url = await receive(() => stop.abort());
  await expect(send(url, { signal: stop.signal })).rejects.toThrow();
});

describe('the address that was checked', () => {
  /** A trap on loopback: any connection to it is a failure. */
  let trap: net.Server;
  let port: number;
  const trapped = vi.fn();
  beforeAll(async () => {
    trap = net.createServer((socket) => {
      trapped();
      socket.destroy();
    });
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    port = (trap.address() as net.AddressInfo).port;
  });
  afterAll(() => void trap.close());
  afterEach(() => trapped.mockClear());

  test('is the one that is connected to, although the name has another address by then', async () => {
    const answers = [['203.0.114.7'], ['127.0.0.1'], ['127.0.0.1']];
    const resolve = vi.fn<ResolveHost>(async () => answers.shift() ?? ['127.0.0.1']);
    const connected: unknown[] = [];
    vi.spyOn(net.Socket.prototype, 'connect').mockImplementation(function (
      this: net.Socket,
      ...given: unknown[]
    ) {
      const [options] = given.flat();
      const { lookup, host } = options as net.TcpNetConnectOpts;
      // What the socket would connect to; the test opens no connection to the Internet.
      lookup?.(host ?? '', { all: true }, (_error, found) => connected.push(found));
      queueMicrotask(() => this.destroy(Object.assign(new Error('stopped'), { code: 'ECONNREFUSED' })));
      return this;
    });
    const answer = await send(`https://rebind.example:${port}/`, { allowed: [], resolve });
    expect(answer.error).toBe('The host refused the connection.');
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(connected).toEqual([[{ address: '203.0.114.7', family: 4 }]]);
    expect(trapped).not.toHaveBeenCalled();
  });

  test.each([
    ['a private one', ['127.0.0.1']],
    ['a public and a private one', ['203.0.114.7', '127.0.0.1']],
    ['a mapped one', ['::ffff:127.0.0.1']],
    ['none', []],
  ])('is never one of a name that has %s: no socket is opened', async (_what, addresses) => {
    const connect = vi.spyOn(net.Socket.prototype, 'connect');
    const answer = await send(`https://inside.example:${port}/`, {
      allowed: [],
      resolve: async () => addresses,
    });
    expect(answer).toMatchObject({ statusCode: null, error: 'The host has no public address.' });
    expect(connect).not.toHaveBeenCalled();
    expect(trapped).not.toHaveBeenCalled();
  });

  test.each([
    'https://127.0.0.1',
    'https://0x7f.1',
    'https://[::ffff:127.0.0.1]',
    'https://localhost',
    'http://127.0.0.1',
  ])('is never that of %s: no socket is opened', async (origin) => {
    const connect = vi.spyOn(net.Socket.prototype, 'connect');
    const answer = await send(`${origin}:${port}/`, { allowed: [] });
    expect(answer.error).toMatch(/^The URL must /);
    expect(connect).not.toHaveBeenCalled();
    expect(trapped).not.toHaveBeenCalled();
  });
});

describe('over TLS,', () => {
  const ca = new PrivateCa();
  afterAll(() => ca.remove());
  const receiver = async (names: string): Promise<{ port: number; names: unknown[] }> => {
    const { certificate, key } = ca.issue(names);
    const seen: unknown[] = [];
    const server = https.createServer({ cert: readFileSync(certificate), key: readFileSync(key) });
    server.on('request', (request, response) => {
      seen.push(request.headers.host, Reflect.get(request.socket, 'servername'));
      response.end('sealed');
    });
    onTestFinished(() => server.closeAllConnections());
    return { port: await listen(server), names: seen };
  };
  const resolve: ResolveHost = async () => ['127.0.0.1'];
  const trusted = { ca: readFileSync(ca.certificate, 'utf8'), resolve };

  test('the name of the URL is sent and verified, while the checked address is connected to', async () => {
    const { port, names } = await receiver('DNS:hooks.example');
    const answer = await send(`https://hooks.example:${port}/`, trusted);
    expect(answer).toMatchObject({ statusCode: 200, answer: 'sealed' });
    expect(names).toEqual([`hooks.example:${port}`, 'hooks.example']);
  });

  test('a certificate for another name is refused', async () => {
    const { port, names } = await receiver('DNS:other.example');
    const { error } = await send(`https://hooks.example:${port}/`, trusted);
    expect(error).toMatch(/certificate for other names/);
    expect(names).toEqual([]);
  });

  test('a certificate from an unknown CA is refused', async () => {
    const { port } = await receiver('DNS:hooks.example');
    expect((await send(`https://hooks.example:${port}/`, { resolve })).error).toMatch(/from an unknown CA/);
  });
});
