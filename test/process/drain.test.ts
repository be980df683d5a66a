import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { acceptWaiting, createDrain, type DrainOptions } from '../../src/lib/drain.ts';

const minute = 60_000;

async function listen(
  listener: (request: IncomingMessage, response: ServerResponse) => void,
  options: DrainOptions,
) {
  const server = createServer(listener);
  const drain = createDrain(server, options);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => server.closeAllConnections());
  return { server, drain, port: portOf(server) };
}

const portOf = (server: Server) => z.object({ port: z.number() }).parse(server.address()).port;

/** Sends a GET over the agent's only connection. */
async function get(port: number, agent: Agent): Promise<IncomingMessage> {
  const sent = request({ port, host: '127.0.0.1', agent }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  return response;
}

const keepAlive = () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return agent;
};

test('a request on a kept-alive connection after the drain begins is answered with Connection: close', async () => {
  const { drain, port } = await listen((_request, response) => response.end('hello'), {
    idleGraceMilliseconds: minute,
    timeoutMilliseconds: minute,
  });
  const agent = keepAlive();
  expect((await get(port, agent)).headers.connection).toBe('keep-alive');
  const drained = drain();
  const last = await get(port, agent);
  expect(last.statusCode).toBe(200);
  expect(last.headers.connection).toBe('close');
  await drained;
  await expect(get(port, agent)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a running request is finished, and its connection closed', async () => {
  let answer = () => {};
  const { server, drain, port } = await listen(
    (_request, response) => {
      answer = () => response.end('late');
    },
    { idleGraceMilliseconds: minute, timeoutMilliseconds: minute },
  );
  const asked = once(server, 'request');
  const answered = get(port, keepAlive());
  await asked;
  const drained = drain();
  answer();
  expect((await answered).headers.connection).toBe('close');
  await drained;
});

test('an idle connection is closed after the grace period', async () => {
  const { drain, port } = await listen((_request, response) => response.end('hello'), {
    idleGraceMilliseconds: 10,
    timeoutMilliseconds: minute,
  });
  await get(port, keepAlive());
  await drain();
});

test('a request that never ends is cut off after the timeout', async () => {
  const { server, drain, port } = await listen((_request, response) => response.end(), {
    idleGraceMilliseconds: 10,
    timeoutMilliseconds: 100,
  });
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const connected = once(server, 'connection');
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Le');
  await connected;
  await drain();
});

test('a process that is always busy does not wait long for connections that arrive unnoticed', async () => {
  let turns = 0;
  let isBusy = true;
  const keepBusy = () => {
    turns += 1;
    const until = performance.now() + 20;
    while (performance.now() < until);
    if (isBusy) setImmediate(keepBusy);
  };
  setImmediate(keepBusy);
  await acceptWaiting();
  isBusy = false;
  expect(turns).toBeGreaterThan(2);
  expect(turns).toBeLessThan(50);
});
