import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { serverUrl } from '../setup/database.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { freshDirectory, freshServerDatabase, query } from './places.ts';
import { runCommand } from './run-command.ts';

// A database is used with one master secret from its first start on.

const long = 300_000;
const freshSecret = () => randomBytes(32).toString('base64');
type Env = Readonly<Record<string, string>>;

/** Starts a service for as long as the test runs. */
async function start(env: Env): Promise<TestServer> {
  const server = await startTestServer({ database: 'memory', env });
  onTestFinished(() => server.close());
  return server;
}

/** The result of a start. */
const refusalOf = async (env: Env): Promise<string> =>
  start(env).then(
    () => 'it started',
    (error: unknown) => String(error),
  );

const anotherSecret =
  /is not the one that this database is used with.*SERVICE_SECRET_PREVIOUS.*rotate-secret/;

describe.skipIf(serverUrl === null)('a database on a server without an application', () => {
  const emptyDatabase = async () => ({ DATABASE_URL: await freshServerDatabase() });

  test(
    'refuses a second instance with another secret, and reveals neither secret',
    async () => {
      const database = await emptyDatabase();
      const [one, other] = [freshSecret(), freshSecret()];
      await start({ ...database, SERVICE_SECRET: one });
      const refusal = await refusalOf({ ...database, SERVICE_SECRET: other });
      expect(refusal).toMatch(/MasterSecretError/);
      expect(refusal).toMatch(anotherSecret);
      for (const secret of [one, other]) expect(refusal).not.toContain(secret);
      await start({ ...database, SERVICE_SECRET: one });
    },
    long,
  );

  test(
    'accepts one of two instances that start at once with different secrets',
    async () => {
      const database = await emptyDatabase();
      const outcomes = await Promise.all(
        [freshSecret(), freshSecret()].map((secret) => refusalOf({ ...database, SERVICE_SECRET: secret })),
      );
      const refused = outcomes.filter((outcome) => outcome !== 'it started');
      expect(refused).toHaveLength(1);
      expect(refused[0]).toMatch(anotherSecret);
    },
    long,
  );

  test(
    'stores a fingerprint of the secret, and not the secret',
    async () => {
      const database = await emptyDatabase();
      const secret = freshSecret();
      await start({ ...database, SERVICE_SECRET: secret });
      const [row] = await query<{ noted: Buffer }>(
        database.DATABASE_URL,
        'SELECT secret_fingerprint AS noted FROM installation',
      );
      const noted = row?.noted ?? expect.fail('nothing is noted');
      expect(noted).toHaveLength(32);
      for (const form of [Buffer.from(secret), Buffer.from(secret, 'base64')])
        expect(noted).not.toEqual(form);
    },
    long,
  );

  test(
    'accepts another secret together with the previous one, and from then on without it',
    async () => {
      const database = await emptyDatabase();
      const [old, fresh] = [freshSecret(), freshSecret()];
      await start({ ...database, SERVICE_SECRET: old });
      await start({ ...database, SERVICE_SECRET: old, SERVICE_SECRET_PREVIOUS: fresh });
      await start({ ...database, SERVICE_SECRET: fresh, SERVICE_SECRET_PREVIOUS: old });
      const rotation = await runCommand(['rotate-secret'], {
        ...database,
        SERVICE_SECRET: fresh,
        SERVICE_SECRET_PREVIOUS: old,
      });
      expect(rotation).toMatchObject({ code: 0 });
      await start({ ...database, SERVICE_SECRET: fresh });
      expect(await refusalOf({ ...database, SERVICE_SECRET: old })).toMatch(anotherSecret);
    },
    long,
  );

  test(
    'accepts another secret for a lost one after rotate-secret, which refuses a wrong previous secret',
    async () => {
      const database = await emptyDatabase();
      const fresh = { ...database, SERVICE_SECRET: freshSecret() };
      await start({ ...database, SERVICE_SECRET: freshSecret() });
      const wrong = { ...fresh, SERVICE_SECRET_PREVIOUS: freshSecret() };
      expect(await refusalOf(wrong)).toMatch(anotherSecret);
      const refused = await runCommand(['rotate-secret'], wrong);
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      expect(refused.stderr).toMatch(anotherSecret);
      const { stdout } = await runCommand(['doctor', '--json'], fresh);
      expect(stdout).toMatch(anotherSecret);
      expect(await runCommand(['rotate-secret'], fresh)).toMatchObject({ code: 0 });
      await start(fresh);
    },
    long,
  );

  test(
    'accepts the secret of the first application, if an earlier version has used the database',
    async () => {
      const database = await emptyDatabase();
      const [one, other] = [freshSecret(), freshSecret()];
      const before = await start({ ...database, SERVICE_SECRET: one });
      await (await createWorld(before)).createApplication();
      await query(database.DATABASE_URL, 'UPDATE installation SET secret_fingerprint = NULL');
      expect(await refusalOf({ ...database, SERVICE_SECRET: other })).toMatch(/cannot be (opened|decrypted)/);
      await start({ ...database, SERVICE_SECRET: one });
      await query(database.DATABASE_URL, 'DELETE FROM applications');
      expect(await refusalOf({ ...database, SERVICE_SECRET: other })).toMatch(anotherSecret);
    },
    long,
  );

  test(
    'accepts the secret of a backup that is restored into it',
    async () => {
      const [theirs, ours] = [freshSecret(), freshSecret()];
      const source = await emptyDatabase();
      const server = await start({ ...source, SERVICE_SECRET: theirs });
      await createWorld(server);
      const file = `${await freshDirectory()}/a.backup`;
      expect(await runCommand(['backup', file], { ...source, SERVICE_SECRET: theirs })).toMatchObject({
        code: 0,
      });
      const target = await emptyDatabase();
      const before = await startTestServer({ database: 'memory', env: { ...target, SERVICE_SECRET: ours } });
      await before.close();
      await sleep(100);
      const restored = await runCommand(['restore', file], { ...target, SERVICE_SECRET: theirs });
      expect(restored).toMatchObject({ code: 0 });
      await start({ ...target, SERVICE_SECRET: theirs });
    },
    long,
  );
});

describe('an embedded database without an application', () => {
  test('works with the secret that rotate-secret has created, at once and after the previous one is forgotten', {
    tags: 'slow',
    timeout: long,
  }, async () => {
    const env = { DATA_DIR: await freshDirectory() };
    const once = async () => (await startTestServer({ database: 'memory', env })).close();
    await once();
    expect(await runCommand(['rotate-secret'], env)).toMatchObject({ code: 0 });
    await once();
    expect(await runCommand(['rotate-secret'], env)).toMatchObject({ code: 0 });
    expect(await runCommand(['rotate-secret', '--forget-previous'], env)).toMatchObject({ code: 0 });
    await once();
    const refusal = await refusalOf({ ...env, SERVICE_SECRET: freshSecret() });
    expect(refusal).toMatch(anotherSecret);
  });
});
