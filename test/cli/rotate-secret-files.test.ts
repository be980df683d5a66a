import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { replaceMasterSecret } from '../../src/crypto/master-secret.ts';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type SeededApplication, type SeededLicense } from '../setup/world.ts';
import { runCommand } from './run-command.ts';

// The master secret of an embedded database is in files next to it.

const long = 600_000;

let directory: string;
/** Created before each test's own steps. */
let cookie: string;
let application: SeededApplication;
let license: SeededLicense;
const path = (name: string) => join(directory, name);
const secret = () => readFile(path('service-secret'), 'utf8');
const start = (env: Readonly<Record<string, string>> = {}): Promise<TestServer> =>
  startTestServer({ env: { DATA_DIR: directory, ...env } });
const rotate = (...words: string[]) => runCommand(['rotate-secret', ...words], { DATA_DIR: directory });

/** Starts the service, and checks an earlier cookie and a license. */
async function serve(env: Readonly<Record<string, string>> = {}) {
  const server = await start(env);
  try {
    const client = new ApiClient(server.baseUrl, { cookie });
    const session = await openSession(server, application);
    const { status } = await client.get('/api/v1/auth/me');
    return { cookie: status, verdict: (await session.ask(validatePath, license)).code };
  } finally {
    await server.close();
  }
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-rotate-'));
  const server = await start();
  try {
    const world = await createWorld(server);
    const { email, password } = world.developer;
    const answer = await new ApiClient(server.baseUrl).post('/api/v1/auth/login', { email, password });
    cookie = cookieOf(answer) ?? expect.fail('logging in set no cookie');
    application = await world.createApplication();
    license = await application.mintOne();
  } finally {
    await server.close();
  }
}, long);
afterEach(() => rm(directory, { recursive: true, force: true }));

describe('rotate-secret', () => {
  test(
    'generates a secret and keeps the previous one for session cookies',
    async () => {
      const before = await secret();
      const run = await rotate();
      expect(run).toMatchObject({ code: 0 });
      expect(run.stdout).toMatch(/Re-encrypted 1 private keys; all 1 are under/);
      const after = await secret();
      expect(after).not.toBe(before);
      expect(await readFile(path('service-secret.previous'), 'utf8')).toContain(before.trim());
      for (const name of ['service-secret', 'service-secret.previous']) {
        expect((await stat(path(name))).mode & 0o777).toBe(0o600);
      }
      for (const text of [before, after]) expect(run.stdout + run.stderr).not.toContain(text.trim());
      expect(await serve()).toEqual({ cookie: 200, verdict: 'OK' });

      // After another rotation, the cookie is signed under the secret before the previous one.
      expect(await rotate()).toMatchObject({ code: 0 });
      expect(await secret()).not.toBe(after);
      expect(await serve()).toEqual({ cookie: 200, verdict: 'OK' });

      const forgotten = await rotate('--forget-previous');
      expect(forgotten).toMatchObject({ code: 0 });
      expect(await readdir(directory)).not.toContain('service-secret.previous');
      expect(await serve()).toEqual({ cookie: 401, verdict: 'OK' });
      expect((await rotate('--forget-previous')).stdout).toMatch(/Nothing to do/);
    },
    long,
  );

  test('that was killed after replacing the files is finished by the next run, without a new secret', {
    tags: 'slow',
    timeout: long,
  }, async () => {
    replaceMasterSecret(directory, Date.now());
    const made = await secret();
    expect(await serve()).toEqual({ cookie: 200, verdict: 'OK' });
    expect((await rotate('--forget-previous')).stderr).toMatch(/still encrypted under a previous secret/);
    const run = await rotate();
    expect(run).toMatchObject({ code: 0 });
    expect(run.stdout).toMatch(
      /Re-encrypted 1 .*finished an interrupted rotation and generated no new secret/s,
    );
    expect(await secret()).toBe(made);
    expect(await serve()).toEqual({ cookie: 200, verdict: 'OK' });
    expect(await rotate('--forget-previous')).toMatchObject({ code: 0 });
    expect(await serve()).toEqual({ cookie: 401, verdict: 'OK' });
  });

  test(
    'refuses a database in use by a service, with advice',
    async () => {
      const before = await secret();
      const server = await start();
      try {
        const run = await rotate();
        expect(run).toMatchObject({ code: 1, stdout: '' });
        expect(run.stderr).toMatch(/is in use by process \d+.*Stop the service, rotate the secret/s);
      } finally {
        await server.close();
      }
      expect(await secret()).toBe(before);
      expect(await readdir(directory)).not.toContain('service-secret.previous');
    },
    long,
  );
});

describe('a start on a database that has been used', () => {
  /** The error of the start, which must not change the secret files. */
  async function refusal(env: Readonly<Record<string, string>> = {}): Promise<string> {
    const files = async () => {
      const names = (await readdir(directory)).filter((name) => name.startsWith('service-secret'));
      return Promise.all(names.map(async (name) => [name, await readFile(path(name), 'utf8')]));
    };
    const before = await files();
    const said = await start(env).then(
      async (server) => {
        await server.close();
        return 'it started';
      },
      (error: unknown) => String(error),
    );
    expect(await files()).toEqual(before);
    return said;
  }

  test(
    'is refused without the secret, and generates none',
    async () => {
      await unlink(path('service-secret'));
      expect(await refusal()).toMatch(
        /service-secret is missing.*Restore the file from a backup.*No new secret/,
      );
      const run = await rotate();
      expect(run).toMatchObject({ code: 1 });
      expect(run.stderr).toMatch(/restore service-secret from a backup/);
    },
    long,
  );

  test.each([
    ['empty', ''],
    ['cut short', randomBytes(32).toString('base64').slice(0, 20)],
    ['overwritten', 'something else altogether\n'],
  ])('is refused if the secret is %s', { tags: 'slow', timeout: long }, async (_what, content) => {
    await writeFile(path('service-secret'), content);
    expect(await refusal()).toMatch(/does not contain a master secret.*Restore it from a backup/);
    expect(await rotate()).toMatchObject({ code: 1 });
    expect(await readFile(path('service-secret'), 'utf8')).toBe(content);
  });

  test('is refused if other users can read the secret', { tags: 'slow', timeout: long }, async () => {
    await chmod(path('service-secret'), 0o644);
    expect(await refusal()).toMatch(/can be read or written by others \(its mode is 644\).*chmod 600/);
    await chmod(path('service-secret'), 0o600);
    expect(await serve()).toEqual({ cookie: 200, verdict: 'OK' });
  });

  test('is refused with another secret, unless the right one is set as the previous one', {
    tags: 'slow',
    timeout: long,
  }, async () => {
    const right = (await secret()).trim();
    const other = { SERVICE_SECRET: randomBytes(32).toString('base64') };
    expect(await refusal(other)).toMatch(/encrypted with another SERVICE_SECRET.*SERVICE_SECRET_PREVIOUS/);
    await writeFile(path('service-secret'), `${randomBytes(32).toString('base64')}\n`);
    expect(await refusal()).toMatch(/encrypted with another SERVICE_SECRET.*restore the secret/);
    expect(await serve({ ...other, SERVICE_SECRET_PREVIOUS: right })).toEqual({
      cookie: 200,
      verdict: 'OK',
    });
    // The text of the file works as SERVICE_SECRET, as after a move to a server.
    expect(await serve({ SERVICE_SECRET: right })).toEqual({ cookie: 200, verdict: 'OK' });
  });
});
