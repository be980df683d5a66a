/** @module-tag slow */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { noLimits } from '../api/support.ts';
import { startRelay } from '../setup/relay.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

/** A ban commits when the holder of this lock releases it. */
const gate = 4_711;
const slowCommits = `
  CREATE FUNCTION commit_slowly() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS
    $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${gate}); RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER slowly AFTER UPDATE ON licenses DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.status = 'banned') EXECUTE FUNCTION commit_slowly();
  SELECT pg_advisory_lock(${gate});`;

test.skipIf(process.env.TEST_DATABASE_URL === undefined)(
  'a ban whose commit completes long after its connection broke takes effect, although the license was cached in between',
  async () => {
    const whole = await startTestServer({ database: 'server', env: noLimits });
    const { DATABASE_URL = '' } = whole.databaseEnv;
    const relay = await startRelay(DATABASE_URL);
    const server = await startTestServer({ beside: whole, env: { ...noLimits, DATABASE_URL: relay.url } });
    const admin = new pg.Client({ connectionString: DATABASE_URL });
    try {
      await admin.connect();
      // The service builds indexes of the same table, and one of the two statements can be the victim of a deadlock.
      await vi.waitFor(() => admin.query(slowCommits), { timeout: 20_000 });
      const world = await createWorld(server);
      const application = await world.createApplication();
      const { id, licenseKey } = await application.mintOne();
      const session = await openSession(server, application);
      expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });

      const banning = world.client.post(`/api/v1/licenses/${id}/ban`, {});
      await vi.waitFor(
        async () => {
          const { rowCount } = await admin.query(
            `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query = 'COMMIT' AND wait_event = 'advisory'`,
          );
          expect(rowCount).toBe(1);
        },
        { timeout: 20_000, interval: 20 },
      );
      relay.cut();
      expect((await banning).status).toBe(503);
      // Longer than any time limit for a commit.
      await sleep(6_000);
      relay.restore();
      // Cached again, with the state from before the commit.
      await vi.waitFor(
        async () => expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' }),
        { timeout: 20_000, interval: 20 },
      );
      await admin.query('SELECT pg_advisory_unlock($1)', [gate]);
      await vi.waitFor(
        async () => expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'BANNED' }),
        { timeout: 20_000, interval: 100 },
      );
    } finally {
      await admin.end();
      await server.close();
      await relay.close();
      await whole.close();
    }
  },
  120_000,
);
