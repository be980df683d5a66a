import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/log.ts';
import { maintain } from '../../src/services/maintenance.ts';
import { startTestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

test('entries past the retention are dropped, later ones stay, and the coming weeks have partitions', async () => {
  const server = await startTestServer();
  try {
    const world = await createWorld(server);
    const { database } = server.deps.services;
    const { pool } = database;
    const count = async () =>
      Number(
        (await pool.query('SELECT count(*) FROM security_log WHERE developer_id = $1', [world.developer.id]))
          .rows[0].count,
      );
    expect(await count()).toBe(1);

    const at = (days: number) => ({ now: () => Date.now() + days * 24 * 60 * 60 * 1000 });
    const maintainAfter = (days: number) =>
      maintain({ database, clock: at(days), log: createLogger('silent'), retentionDays: 90 });
    await maintainAfter(89);
    expect(await count()).toBe(1);
    await maintainAfter(98);
    expect(await count()).toBe(0);

    const { rows } = await pool.query(
      `SELECT count(*) FROM pg_inherits WHERE inhparent = 'security_log'::regclass`,
    );
    expect(Number(rows[0].count)).toBeGreaterThan(5);
  } finally {
    await server.close();
  }
});

test('an embedded database, which has no autovacuum, is vacuumed', async () => {
  const server = await startTestServer({ database: 'memory' });
  try {
    const { database } = server.deps.services;
    // Only a vacuum marks a page as visible to all, and the first change to it takes the mark away.
    const clean = async () =>
      (await database.pool.query(`SELECT relallvisible FROM pg_class WHERE relname = 'developers'`)).rows[0];
    await createWorld(server);
    expect(await clean()).toEqual({ relallvisible: 0 });
    await maintain({ database, clock: server.clock, log: createLogger('silent'), retentionDays: 90 });
    expect(await clean()).toEqual({ relallvisible: 1 });
  } finally {
    await server.close();
  }
});

test("end users' sessions that are over are deleted, and no others", async () => {
  const server = await startTestServer({ database: 'memory' });
  try {
    const { database } = server.deps.services;
    const world = await createWorld(server);
    const application = await world.createApplication();
    await application.settings({ requireLicenseToRegister: false });
    const answer = await world.client.post(`/api/v1/apps/${application.id}/users`, {
      username: 'grace',
      password: 'password 1',
    });
    expect(answer.status).toBe(201);
    const { id: endUserId } = await database.prisma.endUser.findFirstOrThrow();
    const session = (hours: number) => ({
      id: newId(),
      endUserId,
      tokenHash: new Uint8Array(randomBytes(32)),
      expiresAt: new Date(Date.now() + hours * 60 * 60 * 1000),
    });
    await database.prisma.endUserSession.createMany({ data: [session(-1), session(1)] });
    await maintain({ database, clock: server.clock, log: createLogger('silent'), retentionDays: 90 });
    const left = await database.prisma.endUserSession.findMany();
    expect(left.map(({ expiresAt }) => expiresAt > new Date())).toEqual([true]);
  } finally {
    await server.close();
  }
});
