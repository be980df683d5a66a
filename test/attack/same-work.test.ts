import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createApiKeyToken } from '../../src/crypto/api-key-token.ts';
import { clientPaths } from '../../src/protocol/constants.ts';
import { noLimits } from '../api/support.ts';
import { ApiClient } from '../setup/api-client.ts';
import { openSession, type SealedSession } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { logStatements, type StatementLog } from '../setup/statements.ts';
import { createWorld, type World } from '../setup/world.ts';

/** The cost of each password verification, which determines its duration. */
const { verified } = vi.hoisted(() => ({ verified: [] as string[] }));
vi.mock('@node-rs/argon2', async (importActual) => {
  const actual = await importActual<typeof import('@node-rs/argon2')>();
  return {
    ...actual,
    verify: (hash: string, password: string) => {
      verified.push(hash.split('$').slice(1, 4).join('$'));
      return actual.verify(hash, password);
    },
  };
});

let server: TestServer;
let world: World;
let session: SealedSession;
let statements: StatementLog;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  world = await createWorld(server);
  const application = await world.createApplication();
  await application.settings({ requireLicenseToRegister: false });
  session = await openSession(server, application);
  const known = { username: 'known', password: 'a user password' };
  expect((await session.ask(clientPaths.register, known)).code).toBe('OK');
  statements = logStatements(server.deps.services.database.pool);
});
afterAll(() => server.close());
beforeEach(() => {
  verified.length = 0;
});

/** The statements before a response, without asynchronous writes. */
async function workOf(ask: () => Promise<unknown>): Promise<{ sent: string[]; verified: string[] }> {
  await server.deps.services.securityLog.flush();
  statements.take();
  verified.length = 0;
  await ask();
  // Asynchronous log entries lock their developer first.
  const sent = statements
    .take()
    .filter((text) => /^\s*(SELECT|WITH)/i.test(text) && !text.includes('FOR KEY SHARE'));
  return { sent, verified: [...verified] };
}

const visitor = () => new ApiClient(server.baseUrl);

describe('a failed login', () => {
  test('of a developer verifies one password at one cost, whether or not the account exists', async () => {
    const login = (email: string) => () =>
      visitor().post('/api/v1/auth/login', { email, password: 'not the password' });
    const unknown = await workOf(login('nobody@example.com'));
    const known = await workOf(login(world.developer.email));
    expect(unknown.verified).toEqual(known.verified);
    expect(unknown.verified).toHaveLength(1);
    expect(unknown.sent.length).toBeGreaterThan(0);
    expect(unknown.sent[0]).toBe(known.sent[0]);
  });

  test('of an end user does the same, with the same statements', async () => {
    const login = (username: string) => () =>
      session.ask(clientPaths.login, { username, password: 'not the password' });
    const unknown = await workOf(login('unknown'));
    const known = await workOf(login('known'));
    expect(known).toEqual(unknown);
    expect(known.verified).toHaveLength(1);
  });

  test.skipIf(process.env.TEST_DATABASE_URL === undefined)(
    'of a developer does not wait for its log entry, which an unknown account does not have',
    async () => {
      const own = await startTestServer({ env: noLimits, database: 'server' });
      const { pool } = own.deps.services.database;
      const holder = await pool.connect();
      try {
        const { developer } = await createWorld(own);
        await holder.query('BEGIN; LOCK TABLE security_log IN ACCESS EXCLUSIVE MODE');
        const answer = await new ApiClient(own.baseUrl).post('/api/v1/auth/login', {
          email: developer.email,
          password: 'not the password',
        });
        expect(answer.status).toBe(401);
        await holder.query('COMMIT');
        await vi.waitFor(
          async () => {
            const { rows } = await pool.query(
              `SELECT 1 FROM security_log WHERE event = 'developer_login_failed'`,
            );
            expect(rows).toHaveLength(1);
          },
          { timeout: 10_000 },
        );
      } finally {
        holder.release(true);
        await own.close();
      }
    },
  );
});

test('an unknown API key is looked up like a revoked one: once, by its hash', async () => {
  const created = await world.client.post('/api/v1/account/api-keys', { name: 'revoked' });
  const [, token = ''] = /"apiKey":"([^"]+)"/.exec(JSON.stringify(created.body)) ?? [];
  const [, id = ''] = /"key":\{"id":"([^"]+)"/.exec(JSON.stringify(created.body)) ?? [];
  expect((await world.client.post(`/api/v1/account/api-keys/${id}/revoke`)).status).toBe(200);
  const ask = (bearer: string) => () => visitor().with({ bearer }).get('/api/v1/auth/me');
  const revoked = await workOf(ask(token));
  const unknown = await workOf(ask(createApiKeyToken().token));
  expect(revoked).toEqual(unknown);
  expect(revoked.sent).toHaveLength(1);
  for (const text of [...revoked.sent, ...unknown.sent]) expect(text).not.toContain('service_live_');
});

test('an unknown license key is looked up like a key of another application: once, by its hash', async () => {
  const other = await world.createApplication();
  const { licenseKey } = await other.mintOne();
  const validate = (key: string) => () => session.ask(clientPaths.validate, { licenseKey: key });
  const unknown = await workOf(validate('NOBOD-YHASS-UCHAK-EYEVE-RRRRR'));
  const known = await workOf(validate(licenseKey));
  expect(known.verified).toEqual([]);
  expect(unknown.sent).toHaveLength(1);
  // The other application is looked up too, but the result APP_MISMATCH reveals it anyway.
  expect(known.sent.filter((text) => text.includes('FROM licenses'))).toEqual(unknown.sent);
});
