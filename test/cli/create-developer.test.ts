import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { takeLock } from '../../src/db/embedded/lock.ts';
import { ApiClient } from '../setup/api-client.ts';
import { createServerDatabase, serverUrl } from '../setup/database.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { runCommand } from './run-command.ts';
import { terminalInput } from './terminal-input.ts';

const password = 'correct horse battery';
const words = (email: string, name = 'Ada') => [
  'create-developer',
  '--email',
  email,
  '--name',
  name,
  '--password-stdin',
];

async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-developer-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

describe.skipIf(serverUrl === null)('while a service runs on a PostgreSQL server', () => {
  let service: TestServer;
  let env: Readonly<Record<string, string>>;
  beforeAll(async () => {
    service = await startTestServer({ database: 'server', env: { REGISTRATION: 'closed' } });
    env = { DATABASE_URL: service.databaseEnv.DATABASE_URL ?? '' };
  });
  afterAll(() => service.close());

  const login = (email: string) =>
    new ApiClient(service.baseUrl).post('/api/v1/auth/login', { email, password });

  test('creates an account that can log in at once, although registration is closed', async () => {
    const run = await runCommand(words('Ada@example.com'), env, { input: `${password}\n` });
    expect(run).toMatchObject({ code: 0 });
    const [id, email] = run.stdout.trim().split(' ');
    expect(email).toBe('Ada@example.com');
    const answer = await login('ada@EXAMPLE.com');
    expect(answer).toMatchObject({ status: 200, body: { developer: { id, name: 'Ada' } } });
    const { prisma } = service.deps.services.database;
    const where = { developerId: id ?? '', event: 'developer_registered' };
    const select = { ip: true, country: true, actorKind: true, actorName: true };
    expect(await prisma.securityLogEntry.findMany({ where, select })).toEqual([
      { ip: null, country: null, actorKind: 'operator', actorName: null },
    ]);
  });

  test('prompts for the password twice at a terminal without echoing it', async () => {
    const ask = ['create-developer', '--email', 'tty@example.com', '--name', 'Grace'];
    const run = await runCommand(ask, env, { input: terminalInput(password, password) });
    expect(run).toMatchObject({ code: 0 });
    expect(run.stdout + run.stderr).not.toMatch(/correct|horse|battery|▪|•|\*/);
    expect((await login('tty@example.com')).status).toBe(200);
  });

  test('creates no account if the two passwords differ', async () => {
    const ask = ['create-developer', '--email', 'two@example.com', '--name', 'Grace'];
    const run = await runCommand(ask, env, { input: terminalInput(password, `${password}!`) });
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/not the same. Nothing was changed/);
    expect((await login('two@example.com')).status).toBe(401);
  });

  test('refuses an email address that is taken, in any letter case', async () => {
    expect((await runCommand(words('taken@example.com'), env, { input: password })).code).toBe(0);
    const run = await runCommand(words('TAKEN@example.com'), env, { input: password });
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(/already exists/);
  });

  test.each([
    ['an address that is none', words('nobody'), password, /the email: /],
    ['a blank name', words('a@example.com', ' '), password, /the name: must not be blank/],
    ['a short password', words('a@example.com'), 'x'.repeat(11), /the password: /],
    ['a long password', words('a@example.com'), 'x'.repeat(129), /the password: /],
    ['two lines', words('a@example.com'), `${password}\n${password}\n`, /more than one line/],
    ['no terminal for the prompt', words('a@example.com').slice(0, -1), password, /--password-stdin/],
  ])('makes nothing of %s', async (_what, asked, input, reason) => {
    const run = await runCommand(asked, env, { input });
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(reason);
    expect(run.stderr).not.toContain(input.slice(0, 11));
    expect((await login('a@example.com')).status).toBe(401);
  });

  test('accepts no password as an argument', async () => {
    const run = await runCommand([...words('a@example.com'), '--password', password], env);
    expect(run.code).toBe(2);
  });

  test('does not migrate a database that is not up to date', async () => {
    const { url, drop } = await createServerDatabase();
    onTestFinished(drop);
    const run = await runCommand(words('a@example.com'), { DATABASE_URL: url }, { input: password });
    expect(run).toMatchObject({ code: 1 });
    expect(run.stderr).toMatch(/not up to date: first run "latchkey migrate"/);
  });
});

test('an embedded database gets its master secret with its first account, and the service starts on it', async () => {
  const directory = await freshDirectory();
  const run = await runCommand(words('ada@example.com'), { DATA_DIR: directory }, { input: password });
  expect(run).toMatchObject({ code: 0 });
  expect(await readdir(directory)).toContain('service-secret');
  const service = await startTestServer({ env: { DATA_DIR: directory } });
  try {
    const answer = await new ApiClient(service.baseUrl).post('/api/v1/auth/login', {
      email: 'ada@example.com',
      password,
    });
    expect(answer.status).toBe(200);
  } finally {
    await service.close();
  }
}, 120_000);

test('an embedded database in use by a service is refused with advice', async () => {
  const directory = await freshDirectory();
  const lock = await takeLock(directory, '');
  onTestFinished(() => lock.release());
  const run = await runCommand(words('ada@example.com'), { DATA_DIR: directory }, { input: password });
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(run.stderr).toMatch(/is in use by process \d+.*Stop the service/s);
});

test('a command that waits for a password ends when the operator cancels it', async () => {
  const directory = await freshDirectory();
  const ending = new AbortController();
  const input = new PassThrough();
  const running = runCommand(
    words('ada@example.com'),
    { DATA_DIR: directory },
    { input, signal: ending.signal },
  );
  await expect.poll(() => input.listenerCount('readable')).toBeGreaterThan(0);
  ending.abort();
  expect(await running).toEqual({ code: 1, stdout: '', stderr: 'Cancelled before it was done.\n' });
  expect(await readdir(directory)).toEqual([]);
});

test('an in-memory database is refused', async () => {
  const run = await runCommand(words('ada@example.com'), { DATA_DIR: 'memory:' }, { input: password });
  expect(run).toMatchObject({ code: 1 });
  expect(run.stderr).toMatch(/memory/);
});
