import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import type { Prisma } from '../../src/db/client.ts';
import { openDatabase } from '../../src/db/database.ts';
import { isDatabaseUnavailable } from '../../src/db/errors.ts';
import { freePort } from '../ephemeral/support.ts';
import { createServerDatabase, serverUrl, silent } from '../setup/database.ts';

const slowCommits = `
  CREATE TABLE slow (id int);
  CREATE FUNCTION commit_slowly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER slowly AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION commit_slowly();`;

const works: readonly [string, (transaction: Prisma.TransactionClient) => Promise<unknown>][] = [
  ['raw query', (transaction) => transaction.$queryRaw`SELECT 1 FROM pg_sleep(60)`],
  ['COMMIT', (transaction) => transaction.$executeRaw`INSERT INTO slow VALUES (1)`],
];

test.skipIf(serverUrl === null).each(works)(
  'a %s of a transaction whose connection is reset reports that the database is unavailable',
  async (_what, work) => {
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
    const watcher = new pg.Client({ connectionString: url });
    try {
      await watcher.connect();
      await watcher.query(slowCommits);
      const failure = database.prisma
        .$transaction(work, { timeout: 60_000 })
        .then(() => null)
        .catch((error: unknown) => error);
      await vi.waitFor(
        async () => {
          const { rowCount } = await watcher.query(
            `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
          );
          expect(rowCount).toBe(1);
        },
        { timeout: 20_000, interval: 20 },
      );
      for (const socket of inside) socket.resetAndDestroy();
      expect(await failure).toBeInstanceOf(Error);
      expect(isDatabaseUnavailable(await failure)).toBe(true);
    } finally {
      await watcher.end();
      await database.close();
      relay.close();
      await drop();
    }
  },
);
