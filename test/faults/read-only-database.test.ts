import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { noLimits } from '../api/support.ts';
import { serverUrl } from '../setup/database.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

test.skipIf(serverUrl === null)(
  'readiness reports a read-only database; writes are unavailable, and cached licenses are validated',
  async () => {
    const server = await startTestServer({ database: 'server', env: noLimits });
    onTestFinished(() => server.close());
    const world = await createWorld(server);
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    const validate = async () => {
      const sealed = session.seal(session.inner({ licenseKey }));
      return session.open(await session.client.post(validatePath, sealed));
    };
    const createApplication = () => world.client.post('/api/v1/apps/create', { name: 'Photo Lab' });
    const database = new URL(server.databaseEnv.DATABASE_URL ?? '').pathname.slice(1);
    const operator = new pg.Client({ connectionString: serverUrl ?? '' });
    await operator.connect();
    onTestFinished(() => operator.end());
    /** Applies to new sessions; existing ones are ended. */
    const set = async (readOnly: string) => {
      await operator.query(`ALTER DATABASE ${database} SET default_transaction_read_only = ${readOnly}`);
      await operator.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
        database,
      ]);
    };
    const { report } = server.deps.readiness;

    expect(await validate()).toMatchObject({ code: 'OK' });
    await vi.waitFor(() => expect(report()).toMatchObject({ ready: true }), patient);
    await set('on');
    const detail = expect.stringContaining('takes no writes');
    await vi.waitFor(() => expect(report().parts.database).toEqual({ ready: false, detail }), patient);
    expect(report().ready).toBe(false);
    expect(await createApplication()).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
    expect(await validate()).toMatchObject({ code: 'OK' });

    await set('off');
    await vi.waitFor(() => expect(report()).toMatchObject({ ready: true }), patient);
    await vi.waitFor(async () => expect(await createApplication()).toMatchObject({ status: 201 }), patient);
    expect(await validate()).toMatchObject({ code: 'OK' });
  },
  90_000,
);

const patient = { timeout: 20_000, interval: 50 };
