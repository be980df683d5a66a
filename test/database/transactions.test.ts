import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Prisma } from '../../src/db/client.ts';
import type { Database } from '../../src/db/database.ts';
import { createTestDatabase, databaseKinds } from '../setup/database.ts';

describe.each(databaseKinds)('Prisma and SQL over one pool, on %s,', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await createTestDatabase(kind);
  });
  afterAll(() => database.close());

  const row = (id: string = randomUUID()) => ({
    id,
    email: id,
    emailNormalized: id,
    name: '',
    passwordHash: '$argon2id$',
  });
  const find = (id: string) => database.prisma.developer.findUnique({ where: { id } });

  it('report the field of a duplicate', async () => {
    const first = await database.prisma.developer.create({ data: row() });
    const second = { ...row(), emailNormalized: first.emailNormalized };
    const failure = await database.prisma.developer.create({ data: second }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Prisma.PrismaClientKnownRequestError);
    expect(failure).toMatchObject({ code: 'P2002', meta: { modelName: 'Developer' } });
    expect(JSON.stringify(failure)).toContain('email_normalized');
  });

  it('roll back an interactive transaction that throws', async () => {
    const id = randomUUID();
    const attempt = database.prisma.$transaction(async (transaction) => {
      await transaction.developer.create({ data: row(id) });
      expect(await transaction.developer.count({ where: { id } })).toBe(1);
      throw new Error('changed my mind');
    });
    await expect(attempt).rejects.toThrow('changed my mind');
    expect(await find(id)).toBeNull();
  });

  it('report a failed commit', async () => {
    await database.pool.query(
      'CREATE TABLE IF NOT EXISTS deferred (n INT, CONSTRAINT deferred_unique UNIQUE (n) DEFERRABLE INITIALLY DEFERRED)',
    );
    const id = randomUUID();
    const attempt = database.prisma.$transaction(async (transaction) => {
      await transaction.developer.create({ data: row(id) });
      await transaction.$executeRaw`INSERT INTO deferred VALUES (1), (1)`;
    });
    await expect(attempt).rejects.toMatchObject({ message: expect.stringMatching(/unique|P2002/i) });
    expect(await find(id)).toBeNull();
  });

  it('keep parallel interactive transactions apart', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        database.prisma.$transaction(async (transaction) => {
          const id = randomUUID();
          await transaction.developer.create({ data: { ...row(id), name: `parallel ${index}` } });
          await transaction.$executeRaw`SELECT pg_sleep(0.005)`;
          if (index % 2 === 0) throw new Error('undo this one');
          await transaction.developer.update({ where: { id }, data: { licenseMask: 'kept' } });
        }),
      ),
    );
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(
      outcomes.map((_, index) => index % 2 === 1),
    );
    const kept = await database.prisma.developer.findMany({ where: { name: { startsWith: 'parallel' } } });
    expect(kept.map(({ name }) => Number(name.split(' ')[1])).sort((a, b) => a - b)).toEqual(
      outcomes.flatMap((_, index) => (index % 2 === 1 ? [index] : [])),
    );
    expect(kept.every(({ licenseMask }) => licenseMask === 'kept')).toBe(true);
  });

  it('isolate a transaction from queries outside of it', async () => {
    const id = randomUUID();
    const seen: Promise<unknown>[] = [];
    await database.prisma
      .$transaction(async (transaction) => {
        await transaction.developer.create({ data: row(id) });
        seen.push(
          find(id),
          database.pool.query('INSERT INTO deferred_log SELECT 1').catch(() => null),
        );
        throw new Error('undo');
      })
      .catch(() => undefined);
    expect((await Promise.all(seen))[0]).toBeNull();
  });

  it('return the right result to each of many parallel queries, even with large parameters', async () => {
    // Above the socket's chunk size of 64 KB, the messages of two queries can interleave.
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const text = `${'x'.repeat(200_000)}${index}`;
        const result = await database.pool.query(`SELECT $1::text AS text, ${index} AS index`, [text]);
        return result.rows[0].index === index && result.rows[0].text === text;
      }),
    );
    expect(answers.every(Boolean)).toBe(true);
  });

  it.skipIf(kind === 'server')(
    'share one connection under any load, because the engine has one session',
    async () => {
      await Promise.all(Array.from({ length: 20 }, () => database.pool.query('SELECT 1')));
      expect(database.pool.totalCount).toBe(1);
    },
  );

  it('continue after a failed query', async () => {
    await expect(database.pool.query('SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' });
    await expect(database.pool.query('SELEC 1')).rejects.toMatchObject({ code: '42601' });
    expect((await database.pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  it('continue after losing a connection during a transaction, which is rolled back', async () => {
    const id = randomUUID();
    const client = await database.pool.connect();
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO developers (id, email, email_normalized, name, password_hash) VALUES ($1::uuid, $1::text, $1::text, '', '$argon2id$')`,
      [id],
    );
    client.release(new Error('lost'));
    expect(await find(id)).toBeNull();
  });

  it('read and write the same time through Prisma and SQL', async () => {
    const activatedAt = new Date('2026-07-01T12:34:56.789Z');
    const { id } = await database.prisma.developer.create({ data: { ...row(), createdAt: activatedAt } });
    expect((await find(id))?.createdAt).toEqual(activatedAt);
    const raw = await database.pool.query(
      `SELECT created_at, (extract(epoch FROM created_at) * 1000)::float8 AS ms FROM developers WHERE id = $1`,
      [id],
    );
    expect(raw.rows[0]).toEqual({ created_at: activatedAt, ms: activatedAt.getTime() });
  });
});
