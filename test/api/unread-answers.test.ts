/** @module-tag slow */
import { expect, test, vi } from 'vitest';
import { open, request } from '../attack/raw.ts';
import { cookieOf } from '../setup/api-client.ts';
import { sql } from '../setup/stored.ts';
import { useServer } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import { expectFailure } from './support.ts';

const server = useServer();

/** Gives a developer a list of applications with a response of 4 MB. */
const addLongList = (developerId: string) =>
  sql(
    server,
    `INSERT INTO applications (id, developer_id, name, public_key, private_key_encrypted, response_messages)
     SELECT overlay(gen_random_uuid()::text PLACING '7' FROM 15)::uuid, $1, 'App ' || number,
            decode(repeat('00', 32), 'hex'), decode(repeat('00', 60), 'hex'), $2
     FROM generate_series(1, 900) AS number`,
    [developerId, { OK: 'x'.repeat(4_000) }],
  );

const patience = { timeout: 120_000 };

test(
  'an account that does not read its responses is refused further reads until it has read them',
  patience,
  async () => {
    const careless = await createWorld(server);
    const other = await createWorld(server);
    await addLongList(careless.developer.id);
    const cookie = cookieOf(await careless.client.post('/api/v1/auth/login', careless.login));
    const list = request('GET /api/v1/apps/ HTTP/1.1', 'Host: a', `Cookie: service_session=${cookie}`);
    // The kernel buffers some megabytes of each connection's first response.
    const sockets = Array.from({ length: 30 }, () => open(server.baseUrl).pause());
    for (const socket of sockets) socket.write(list.repeat(3));

    await vi.waitFor(
      async () => {
        const refused = await careless.client.get('/api/v1/apps/?limit=1');
        expectFailure(refused, 429, 'TOO_MANY_READS');
        expect(refused.body).toHaveProperty('error', expect.stringContaining('are unread'));
      },
      { timeout: 60_000, interval: 200 },
    );
    expect((await other.client.get('/api/v1/apps/')).status).toBe(200);

    for (const socket of sockets) socket.destroy();
    await vi.waitFor(
      async () => expect((await careless.client.get('/api/v1/apps/?limit=1')).status).toBe(200),
      { timeout: 60_000, interval: 200 },
    );
  },
);

test('responses that are queued behind an unread one end with their connection', patience, async () => {
  const careless = await createWorld(server);
  await addLongList(careless.developer.id);
  const cookie = cookieOf(await careless.client.post('/api/v1/auth/login', careless.login));
  const inFlight = async () =>
    Number(/^latchkey_requests_in_flight (\d+)$/m.exec(await server.deps.telemetry.page())?.[1]);
  await vi.waitFor(async () => expect(await inFlight()).toBe(0), { timeout: 30_000 });

  // With pipelined requests, Node.js reports the end of the connection only to the first response.
  const socket = open(server.baseUrl).pause();
  const list = request('GET /api/v1/apps/ HTTP/1.1', 'Host: a', `Cookie: service_session=${cookie}`);
  socket.write(list.repeat(8));
  await vi.waitFor(
    async () => expect((await careless.client.get('/api/v1/apps/?limit=1')).status).toBe(429),
    { timeout: 60_000, interval: 200 },
  );
  socket.destroy();

  await vi.waitFor(async () => expect(await inFlight()).toBe(0), { timeout: 10_000, interval: 100 });
  expect((await careless.client.get('/api/v1/apps/?limit=1')).status).toBe(200);
});
