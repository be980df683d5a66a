import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createKeyring } from '../../src/crypto/keyring.ts';
import { environmentSecrets } from '../../src/crypto/master-secret.ts';
import { sealPrivateKey, tryPrivateKey } from '../../src/crypto/sealed-private-key.ts';
import { createSigner } from '../../src/crypto/signer.ts';
import { newId } from '../../src/lib/ids.ts';
import { freePort, hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { root } from '../setup/process.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type World } from '../setup/world.ts';
import { runCommand } from './run-command.ts';

// A rotation on a PostgreSQL server: the operator sets the secrets, and instances keep running.

const possible = process.env.TEST_DATABASE_URL !== undefined && hasRedisServer;
const patient = { timeout: 120_000, interval: 20 };
const long = 600_000;
const freshSecret = () => randomBytes(32).toString('base64');
/** A session cookie signed by this instance. */
async function logIn(server: TestServer, { developer: { email, password } }: World): Promise<string> {
  const answer = await new ApiClient(server.baseUrl).post('/api/v1/auth/login', { email, password });
  return cookieOf(answer) ?? expect.fail('logging in set no cookie');
}
const rotate = (env: Readonly<Record<string, string>>) => runCommand(['rotate-secret'], env);

describe.skipIf(!possible)('instances of a service whose secret is rotated', () => {
  let redis: OwnRedis;
  beforeAll(async () => {
    redis = new OwnRedis(await freePort(), []);
    await redis.start();
  });
  afterAll(() => redis.kill());

  const [old, fresh] = [freshSecret(), freshSecret()];
  const both = { SERVICE_SECRET: fresh, SERVICE_SECRET_PREVIOUS: old };

  test(
    'accept cookies and licenses from before at every step',
    async () => {
      const env = { REDIS_URL: redis.url };
      const servers: TestServer[] = [];
      onTestFinished(async () => {
        for (const server of servers.toReversed()) await server.close();
      });
      const start = async (secrets: Readonly<Record<string, string>>): Promise<TestServer> => {
        const [first] = servers;
        const server = await startTestServer({
          database: 'server',
          env: { ...env, ...secrets },
          ...(first && { beside: first }),
        });
        servers.push(server);
        return server;
      };
      const before = await start({ SERVICE_SECRET: old });
      const world = await createWorld(before);
      const [application, untouched] = [await world.createApplication(), await world.createApplication()];
      const license = await application.mintOne();
      const session = await openSession(before, application);
      expect(await session.ask(validatePath, license)).toMatchObject({ success: true });

      const cookie = await logIn(before, world);
      const clientOf = (server: TestServer) => new ApiClient(server.baseUrl, { cookie });
      const cookieOn = async (server: TestServer) => (await clientOf(server).get('/api/v1/auth/me')).status;
      const ticketOn = async (server: TestServer) =>
        (await clientOf(server).post(validatePath, session.seal(session.inner(license)))).status;
      const validatesOn = async (server: TestServer) =>
        (await openSession(server, application)).ask(validatePath, license);
      const publicKeyOn = async (server: TestServer) =>
        (await clientOf(server).get(`/api/v1/apps/${application.id}`)).body;

      const restarted = await start(both);
      const publicKey = await publicKeyOn(before);
      expect(JSON.stringify(publicKey)).toContain(application.publicKeyB64);
      const honours = async (server: TestServer) => {
        expect(await cookieOn(server)).toBe(200);
        expect(await ticketOn(server)).toBe(200);
        expect(await validatesOn(server)).toMatchObject({ success: true, code: 'OK' });
        expect(await publicKeyOn(server)).toEqual(publicKey);
      };
      await honours(restarted);

      const databaseUrl = before.databaseEnv.DATABASE_URL ?? '';
      const run = await rotate({ DATABASE_URL: databaseUrl, ...both });
      expect(run).toMatchObject({ code: 0 });
      expect(run.stdout).toMatch(/Re-encrypted 2 private keys; all 2 are under the current master secret/);
      expect(run.stdout).toMatch(/7 more days/);
      for (const secret of [old, fresh]) expect(run.stdout + run.stderr).not.toContain(secret);
      await honours(restarted);
      // An instance with an empty cache reads the re-encrypted keys.
      await honours(await start(both));

      // An instance with only the old secret refuses what is not in its cache.
      const refused = await new ApiClient(before.baseUrl).post('/api/v1/session/init', {
        appId: untouched.id,
        clientNonceB64: randomBytes(32).toString('base64'),
        clientVersion: untouched.version,
      });
      expect(refused).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
      expect(before.logLines.join('')).toContain(
        `The private key of application ${untouched.id} cannot be decrypted`,
      );
      await expect(start({ SERVICE_SECRET: old })).rejects.toThrow(/SERVICE_SECRET_PREVIOUS.*rotate-secret/);

      const finished = await start({ SERVICE_SECRET: fresh });
      expect(await validatesOn(finished)).toMatchObject({ success: true, code: 'OK' });
      expect(await publicKeyOn(restarted)).toEqual(publicKey);
      expect(await cookieOn(finished)).toBe(401);
      expect(await ticketOn(finished)).toBe(401);

      const again = await rotate({ DATABASE_URL: databaseUrl, ...both });
      expect(again).toMatchObject({ code: 0 });
      expect(again.stdout).toMatch(/Re-encrypted 0 private keys; all 2/);
    },
    long,
  );

  test('keep serving while they are restarted one by one with both secrets', {
    tags: 'slow',
    timeout: long,
  }, async () => {
    const env = { REDIS_URL: redis.url };
    const one = await startTestServer({
      database: 'server',
      env: { ...env, SERVICE_SECRET: old, SERVICE_SECRET_PREVIOUS: fresh },
    });
    const two = await startTestServer({ beside: one, env: { ...env, ...both } });
    try {
      for (const [here, there] of [
        [one, two],
        [two, one],
      ] as const) {
        const world = await createWorld(here);
        const application = await world.createApplication();
        const license = await application.mintOne();
        const session = await openSession(here, application);
        const elsewhere = new ApiClient(there.baseUrl, { cookie: await logIn(here, world) });
        expect((await elsewhere.get('/api/v1/auth/me')).status).toBe(200);
        const sealed = session.seal(session.inner(license));
        expect((await elsewhere.post(validatePath, sealed)).status).toBe(200);
      }
    } finally {
      await two.close();
      await one.close();
    }
  });
});

describe.skipIf(process.env.TEST_DATABASE_URL === undefined)('rotate-secret on a server', () => {
  const count = 2_000;
  const [old, fresh] = [freshSecret(), freshSecret()];
  const keyringOf = (secret: string) => {
    const { current, previous } = environmentSecrets(secret, null);
    return createKeyring(current, previous);
  };
  let service: TestServer;
  let admin: pg.Client;
  let env: Readonly<Record<string, string>>;
  const seed = new Uint8Array(randomBytes(32));
  beforeAll(async () => {
    service = await startTestServer({ database: 'server', env: { SERVICE_SECRET: old } });
    const { DATABASE_URL = '' } = service.databaseEnv;
    env = { DATABASE_URL, SERVICE_SECRET: fresh, SERVICE_SECRET_PREVIOUS: old };
    admin = new pg.Client({ connectionString: DATABASE_URL });
    await admin.connect();
  }, long);
  afterAll(async () => {
    await admin.end();
    await service.close();
  });

  /** Creates applications whose keys are encrypted under the old secret. */
  beforeEach(async () => {
    const { developer } = await createWorld(service);
    const ids = Array.from({ length: count }, newId);
    const keyring = keyringOf(old);
    await admin.query('DELETE FROM applications');
    await admin.query(
      `INSERT INTO applications (id, developer_id, name, public_key, private_key_encrypted)
       SELECT id, $2, 'An application', $3, sealed FROM unnest($1::uuid[], $4::bytea[]) AS made (id, sealed)`,
      [
        ids,
        developer.id,
        Buffer.from(createSigner(seed).publicKey),
        ids.map((id) => Buffer.from(sealPrivateKey(keyring, id, seed))),
      ],
    );
  }, long);

  /** How many private keys a secret decrypts to the original seed. */
  async function openUnder(secret: string): Promise<number> {
    const keyring = keyringOf(secret);
    const { rows } = await admin.query<{ id: string; sealed: Buffer }>(
      'SELECT id, private_key_encrypted AS sealed FROM applications',
    );
    return rows.filter(({ id, sealed }) => {
      const opened = tryPrivateKey(keyring, id, sealed);
      return opened !== null && Buffer.from(opened.seed).equals(seed);
    }).length;
  }

  test('that was killed half way is finished by another run', {
    tags: 'slow',
    timeout: long,
  }, async () => {
    const { rows } = await admin.query<{ id: string }>(
      'SELECT id FROM applications ORDER BY id OFFSET 700 LIMIT 1',
    );
    await admin.query('BEGIN');
    await admin.query('SELECT 1 FROM applications WHERE id = $1 FOR UPDATE', [rows[0]?.id]);
    const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', 'rotate-secret'], {
      cwd: root,
      env: { PATH: process.env.PATH, ...env },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    try {
      // A batch in the middle waits for the row; those before it are done, and those after it are not.
      await vi.waitFor(async () => {
        expect(child.exitCode).toBeNull();
        // A transaction goes on to see the activity that it saw first.
        await admin.query('SELECT pg_stat_clear_snapshot()');
        const { rows: waiting } = await admin.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name = 'latchkey-command'`,
        );
        expect(waiting).toHaveLength(1);
      }, patient);
    } finally {
      child.kill('SIGKILL');
      await ended;
      await admin.query('ROLLBACK');
    }
    // PostgreSQL finishes the statement of a client that is gone.
    await vi.waitFor(async () => {
      const { rows: others } = await admin.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'latchkey-command'`,
      );
      expect(others).toEqual([]);
    }, patient);
    const [done, left] = [await openUnder(fresh), await openUnder(old)];
    expect(done + left).toBe(count);
    expect(done).toBeGreaterThan(0);
    expect(left).toBeGreaterThan(0);

    const run = await rotate(env);
    expect(run).toMatchObject({ code: 0 });
    expect(run.stdout).toMatch(/all 2000 are under the current master secret/);
    expect(await openUnder(fresh)).toBe(count);
  });

  test('can run twice at the same time', { tags: 'slow', timeout: long }, async () => {
    const runs = await Promise.all([rotate(env), rotate(env)]);
    const numbers = runs.map(({ code, stdout }) => {
      expect(code).toBe(0);
      return Number(/Re-encrypted (\d+) private keys; all 2000/.exec(stdout)?.[1]);
    });
    expect((numbers[0] ?? 0) + (numbers[1] ?? 0)).toBe(count);
    expect(await openUnder(fresh)).toBe(count);
  });

  test(
    'does not change keys that it cannot decrypt, and says what it needs',
    async () => {
      const { SERVICE_SECRET_PREVIOUS: _, ...without } = env;
      const run = await rotate(without);
      expect(run).toMatchObject({ code: 1, stdout: '' });
      expect(run.stderr).toMatch(
        /No configured secret decrypts the private keys of 2000 applications.*SERVICE_SECRET_PREVIOUS/,
      );
      expect(await openUnder(old)).toBe(count);
    },
    long,
  );

  test(
    'changes nothing with a wrong previous secret, and finishes with the right one',
    async () => {
      const wrong = { ...env, SERVICE_SECRET_PREVIOUS: freshSecret() };
      const run = await rotate(wrong);
      expect(run).toMatchObject({ code: 1, stdout: '' });
      expect(run.stderr).toMatch(
        /No configured secret decrypts the private keys of 2000 applications.*not changed/,
      );
      for (const secret of Object.values(wrong)) expect(run.stderr).not.toContain(secret);
      expect(await openUnder(old)).toBe(count);
      // Interrupted with the right secret and continued with a wrong one: completed work remains.
      const { rows } = await admin.query<{ id: string }>('SELECT id FROM applications LIMIT 1');
      const id = rows[0]?.id ?? expect.fail('there is none');
      await admin.query('UPDATE applications SET private_key_encrypted = $2 WHERE id = $1', [
        id,
        Buffer.from(sealPrivateKey(keyringOf(fresh), id, seed)),
      ]);
      const again = await rotate(wrong);
      expect(again).toMatchObject({ code: 1, stdout: '' });
      expect(again.stderr).toMatch(/No configured secret decrypts the private keys of 1999 applications/);
      expect([await openUnder(fresh), await openUnder(old)]).toEqual([1, count - 1]);
      expect(await rotate(env)).toMatchObject({ code: 0 });
      expect(await openUnder(fresh)).toBe(count);
    },
    long,
  );

  test(
    'explains how to rotate if there is nothing to do',
    async () => {
      const run = await rotate({ DATABASE_URL: env.DATABASE_URL ?? '', SERVICE_SECRET: old });
      expect(run).toMatchObject({ code: 0 });
      expect(run.stdout).toMatch(
        /Re-encrypted 0 .*all 2000.*To rotate it, set SERVICE_SECRET to a new secret/s,
      );
      expect(await openUnder(old)).toBe(count);
    },
    long,
  );

  test(
    "does not forget what is the environment's",
    async () => {
      const run = await runCommand(['rotate-secret', '--forget-previous'], env);
      expect(run).toMatchObject({ code: 1 });
      expect(run.stderr).toMatch(/remove SERVICE_SECRET_PREVIOUS/);
    },
    long,
  );

  test(
    'needs the secret',
    async () => {
      const run = await rotate({ DATABASE_URL: env.DATABASE_URL ?? '' });
      expect(run).toMatchObject({ code: 1 });
      expect(run.stderr).toMatch(/SERVICE_SECRET is not set/);
    },
    long,
  );
});
