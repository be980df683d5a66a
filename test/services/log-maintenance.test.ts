import { expect, test } from 'vitest';
import { createLogger } from '../../src/lib/log.ts';
import { maintainLog } from '../../src/services/security-log/maintenance.ts';
import { startTestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

test('entries past the retention are dropped, later ones stay, and the coming weeks have partitions', async () => {
  const server = await startTestServer();
  try {
    const world = await createWorld(server);
    const { pool } = server.deps.services.database;
    const count = async () =>
      Number(
        (await pool.query('SELECT count(*) FROM security_log WHERE developer_id = $1', [world.developer.id]))
          .rows[0].count,
      );
    expect(await count()).toBe(1);

    const at = (days: number) => ({ now: () => Date.now() + days * 24 * 60 * 60 * 1000 });
    const maintain = (days: number) =>
      maintainLog({ pool, clock: at(days), log: createLogger('silent'), retentionDays: 90 });
    await maintain(89);
    expect(await count()).toBe(1);
    await maintain(98);
    expect(await count()).toBe(0);

    const { rows } = await pool.query(
      `SELECT count(*) FROM pg_inherits WHERE inhparent = 'security_log'::regclass`,
    );
    expect(Number(rows[0].count)).toBeGreaterThan(5);
  } finally {
    await server.close();
  }
});
