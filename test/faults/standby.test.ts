import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { migrate } from '../../src/db/migrate.ts';
import { readChanges } from '../../src/services/changes/read.ts';
import { silent } from '../setup/database.ts';
import { findPostgresql, OwnPostgresql } from '../setup/own-postgresql.ts';

const programs = findPostgresql();

// A failover may lead an instance to a standby that still replays what its primary has acknowledged.
test.skipIf(programs === null)(
  'a change is read on a standby although it was under way at an earlier look',
  async () => {
    const primary = await OwnPostgresql.start(programs ?? '');
    onTestFinished(() => primary.remove());
    const poolOf = ({ url }: OwnPostgresql) => {
      const pool = new pg.Pool({ connectionString: url });
      pool.on('error', () => undefined);
      onTestFinished(() => pool.end());
      return pool;
    };
    const written = poolOf(primary);
    await migrate(written, { log: silent });
    const standby = await primary.startStandby();
    onTestFinished(() => standby.remove());
    const replayed = poolOf(standby);
    const insert = (key: string) =>
      `INSERT INTO cache_changes (cache, keys) VALUES ('license', '["${key}"]')`;
    const isReplayed = (key: string) =>
      vi.waitFor(
        async () => {
          const found = await replayed.query(`SELECT FROM cache_changes WHERE keys = '["${key}"]'`);
          expect(found.rowCount).toBe(1);
        },
        { timeout: 20_000, interval: 20 },
      );

    const late = await written.connect();
    await late.query(`BEGIN; ${insert('late')}`);
    await written.query(insert('early'));
    await isReplayed('early');
    const { position } = await readChanges(replayed, null);
    await late.query('COMMIT');
    late.release();
    await isReplayed('late');
    expect((await readChanges(replayed, position)).changes).toContainEqual({
      cache: 'license',
      keys: ['late'],
    });
  },
  120_000,
);
