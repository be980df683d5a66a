import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { isDatabaseUnavailable } from '../../src/db/errors.ts';
import { freePort } from '../ephemeral/support.ts';
import { createServerDatabase, serverUrl, silent } from '../setup/database.ts';

test.skipIf(serverUrl === null)(
  'a raw query of a transaction whose connection is reset says that the database is unavailable',
  async () => {
    const { url, drop } = await createServerDatabase();
    const target = new URL(url);
    const server = { port: Number(target.port || 5432), host: target.hostname };
    const inside: Socket[] = [];
    const relay = createServer((socket) => {
      const outside = connect(server);
      inside.push(socket);
      for (const end of [socket, outside]) end.on('error', () => undefined);
      socket.on('close', () => outside.destroy());
      socket.pipe(outside).pipe(socket);
    });
    const port = await freePort();
    relay.listen(port, '127.0.0.1');
    await once(relay, 'listening');
    target.port = String(port);
    const database = await openDatabase({ kind: 'server', url: target.href }, { log: silent });
    try {
      const failure: unknown = await database.prisma
        .$transaction(async (transaction) => {
          const sleeping = transaction.$queryRaw`SELECT 1 FROM pg_sleep(5)`;
          setTimeout(() => inside.map((socket) => socket.resetAndDestroy()), 300);
          await sleeping;
        })
        .then(
          () => null,
          (error: unknown) => error,
        );
      expect(failure).toBeInstanceOf(Error);
      expect(isDatabaseUnavailable(failure)).toBe(true);
    } finally {
      await database.close();
      relay.close();
      await drop();
    }
  },
);
