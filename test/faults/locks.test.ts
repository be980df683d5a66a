/** @module-tag slow */
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { logsAnswer, noLimits } from '../api/support.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';

const patient = { timeout: 20_000, interval: 50 };

/** A developer with an application, and a customer whose license is in use. */
async function seed(server: TestServer) {
  const { client, createApplication } = await createWorld(server);
  const application = await createApplication();
  const { licenseKey } = await application.mintOne();
  const session = await openSession(server, application);
  const validate = async () => expect((await session.ask(validatePath, { licenseKey })).code).toBe('OK');
  await validate();
  return {
    application,
    validate,
    mint: async () => {
      const order = { applicationId: application.id, amount: 1, durationSeconds: 0 };
      return (await client.post('/api/v1/licenses/create', order)).status;
    },
    validations: async () => {
      const { body } = await client.get(`/api/v1/apps/${application.id}/logs?limit=200`);
      return logsAnswer.parse(body).logs.filter(({ event }) => event === 'license_validated').length;
    },
  };
}

test.skipIf(process.env.TEST_DATABASE_URL === undefined)(
  'an application that is locked for long, such as during its deletion, does not block others',
  async () => {
    const server = await startTestServer({ database: 'server', env: noLimits });
    const holder = new pg.Client({ connectionString: server.databaseEnv.DATABASE_URL });
    try {
      await holder.connect();
      const held = await seed(server);
      const free = await seed(server);
      await server.deps.services.securityLog.flush();
      await holder.query('BEGIN');
      await holder.query('SELECT FROM applications WHERE id = $1 FOR UPDATE', [held.application.id]);

      // Requests that have to wait for it are refused within the promised time, even if others wait too.
      const start = performance.now();
      expect(await Promise.all([held.mint(), held.mint(), held.mint()])).toEqual([503, 503, 503]);
      expect(performance.now() - start).toBeLessThan(10_000);
      for (const customer of [held, free, held, free]) await customer.validate();
      expect(await free.mint()).toBe(201);
      await vi.waitFor(async () => expect(await free.validations()).toBe(3), patient);
      expect(await held.validations()).toBe(1);

      await holder.query('ROLLBACK');
      await vi.waitFor(async () => expect(await held.validations()).toBe(3), patient);
      expect(await held.mint()).toBe(201);
      expect(server.deps.services.securityLog.shed).toBe(0);
    } finally {
      await holder.end();
      await server.close();
    }
  },
  60_000,
);

test.skipIf(process.env.TEST_DATABASE_URL === undefined)(
  'an application that is locked while the service stops gets its log entries after it is unlocked',
  async () => {
    const whole = await startTestServer({ database: 'server', env: noLimits });
    const server = await startTestServer({ beside: whole, env: noLimits });
    const holder = new pg.Client({ connectionString: whole.databaseEnv.DATABASE_URL });
    try {
      await holder.connect();
      const held = await seed(server);
      await server.deps.services.securityLog.flush();
      await holder.query('BEGIN');
      await holder.query('SELECT FROM applications WHERE id = $1 FOR UPDATE', [held.application.id]);
      await held.validate();
      const closing = server.close();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await holder.query('ROLLBACK');
      await closing;
      const { rows } = await holder.query<{ count: string }>(
        `SELECT count(*) FROM security_log WHERE application_id = $1 AND event = 'license_validated'`,
        [held.application.id],
      );
      expect(Number(rows[0]?.count)).toBe(2);
    } finally {
      await holder.end();
      await whole.close();
    }
  },
  60_000,
);
