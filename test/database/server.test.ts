import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/db/database.ts';
import { checkServerVersion } from '../../src/db/server.ts';
import { createServerDatabase, serverUrl, silent } from '../setup/database.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const open = (url: string) => openDatabase({ kind: 'server', url }, { log: silent });
const password = 'never-show-this';

/** A server that answers the first message with an error of PostgreSQL's protocol. */
async function refusingServer(code: string, message: string): Promise<number> {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, fields])));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  undo.push(async () => server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('a server that cannot be used', () => {
  it('is named by host and port, without the password, if it does not answer', async () => {
    const failure = await open(`postgresql://me:${password}@127.0.0.1:1/latchkey`).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      name: 'DatabaseStartError',
      problem: 'unreachable',
      message: expect.stringContaining('127.0.0.1:1'),
    });
    expect(String(failure)).not.toContain(password);
  });

  it('gets another error if it refuses the password', async () => {
    const port = await refusingServer('28P01', 'password authentication failed for user "me"');
    const failure = await open(`postgresql://me:${password}@127.0.0.1:${port}/latchkey`).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      problem: 'authentication',
      message: expect.stringMatching(
        new RegExp(`127\\.0\\.0\\.1:${port} as user "me": check the user and the password`),
      ),
    });
    expect(String(failure)).not.toContain(password);
  });

  it('gets another error if it lacks the database', async () => {
    const port = await refusingServer('3D000', 'database "latchkey" does not exist');
    await expect(open(`postgresql://me@127.0.0.1:${port}/latchkey`)).rejects.toMatchObject({
      problem: 'refused',
      message: expect.stringContaining('no database "latchkey"'),
    });
  });

  it('gets another error if it is still starting', async () => {
    const port = await refusingServer('57P03', 'the database system is starting up');
    await expect(open(`postgresql://me@127.0.0.1:${port}/latchkey`)).rejects.toMatchObject({
      problem: 'refused',
      message: expect.stringContaining('starting up'),
    });
  });

  it('is refused if it is older than PostgreSQL 15', () => {
    expect(() => checkServerVersion(140_018)).toThrow(/runs PostgreSQL 14; 15 or newer is required/);
    for (const version of [150_000, 150_020, 180_006])
      expect(() => checkServerVersion(version)).not.toThrow();
  });
});

describe.skipIf(serverUrl === null)('a server', () => {
  it('is opened by this version after a later one has migrated it, unless that one has contracted it', async () => {
    const { url, drop } = await createServerDatabase();
    undo.push(drop);
    const database = await open(url);
    await database.pool.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at) VALUES ('x', 'x', '29990101000000_later', now())`,
    );
    await (await open(url)).close();
    await database.pool.query(
      `UPDATE _prisma_migrations SET logs = '-- contract: 29990101000000_later' WHERE migration_name = '29990101000000_later'`,
    );
    await database.close();
    await expect(open(url)).rejects.toMatchObject({
      problem: 'newer-database',
      message: expect.stringContaining('29990101000000_later'),
    });
  });

  it('stores correct times although its own time zone is not UTC', async () => {
    const { url, drop } = await createServerDatabase();
    undo.push(drop);
    const first = await open(url);
    const name = (await first.pool.query('SELECT current_database() AS name')).rows[0].name;
    await first.pool.query(`ALTER DATABASE ${name} SET timezone TO 'Asia/Kolkata'`);
    await first.close();
    const database = await open(url);
    undo.push(database.close);
    const createdAt = new Date('2026-07-01T12:34:56.789Z');
    const id = '0198a000-0000-7000-8000-000000000000';
    await database.prisma.developer.create({
      data: { id, email: 'a', emailNormalized: 'a', name: '', passwordHash: '$argon2id$', createdAt },
    });
    expect((await database.prisma.developer.findUniqueOrThrow({ where: { id } })).createdAt).toEqual(
      createdAt,
    );
    const raw = await database.pool.query(
      'SELECT extract(epoch FROM created_at)::float8 * 1000 AS ms FROM developers',
    );
    expect(raw.rows[0].ms).toBe(createdAt.getTime());
  });
});
