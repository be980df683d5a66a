import { expect, onTestFinished, test, vi } from 'vitest';
import { createEndedSessions } from '../../src/services/ended-sessions.ts';
import { startTestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

test('a session that is logged out while the database is unavailable ends when the database responds', async () => {
  const server = await startTestServer();
  onTestFinished(() => server.close());
  const { client } = await createWorld(server);
  const { pool, prisma } = server.deps.services.database;
  const [session] = await prisma.accountSession.findMany({ select: { id: true } });
  let isDown = true;
  const unreliable: typeof pool = Object.create(pool, {
    query: {
      value: (text: string, values: unknown[]) =>
        isDown ? Promise.reject(new Error('the database is down')) : pool.query(text, values),
    },
  });
  const warn = vi.fn();
  await createEndedSessions(unreliable, { warn }).end(session?.id ?? '');
  expect(warn).toHaveBeenCalled();
  expect(await prisma.accountSession.count()).toBe(1);
  isDown = false;
  await vi.waitFor(async () => expect(await prisma.accountSession.count()).toBe(0), { timeout: 10_000 });
  expect((await client.get('/api/v1/auth/me')).status).toBe(401);
});
