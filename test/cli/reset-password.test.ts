import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { serverUrl } from '../setup/database.ts';
import { seedTotp } from '../setup/second-factor.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { runCommand } from './run-command.ts';
import { terminalInput } from './terminal-input.ts';

const fresh = 'a wholly different one';
const words = (email: string) => ['reset-password', '--email', email, '--password-stdin'];
const login = ({ baseUrl }: Pick<TestServer, 'baseUrl'>, email: string, password: string) =>
  new ApiClient(baseUrl).post('/api/v1/auth/login', { email, password });

describe.skipIf(serverUrl === null)('while a service runs on a PostgreSQL server', () => {
  let service: TestServer;
  let env: Readonly<Record<string, string>>;
  beforeAll(async () => {
    service = await startTestServer({ database: 'server' });
    env = { DATABASE_URL: service.databaseEnv.DATABASE_URL ?? '' };
  });
  afterAll(() => service.close());

  test('the new password works at once, the old one and earlier cookies do not, and the security log has an entry', async () => {
    const [world, other] = [await createWorld(service), await createWorld(service)];
    const { email, password } = world.developer;
    const cookie = cookieOf(await login(service, email, password)) ?? expect.fail('no cookie');
    const me = (client: ApiClient) => client.get('/api/v1/auth/me');
    expect((await me(new ApiClient(service.baseUrl, { cookie }))).status).toBe(200);

    const run = await runCommand(words(email.toUpperCase()), env, { input: `${fresh}\n` });
    expect(run).toMatchObject({ code: 0 });
    const [id, printed] = run.stdout.trim().split(' ');
    expect(printed).toBe(email);
    expect(run.stdout + run.stderr).not.toMatch(/wholly|different/);

    expect((await me(new ApiClient(service.baseUrl, { cookie }))).status).toBe(401);
    expect((await login(service, email, password)).status).toBe(401);
    expect((await login(service, email, fresh)).status).toBe(200);
    expect((await me(other.client)).status).toBe(200);
    const where = { developerId: id ?? '', event: 'account_changed' };
    const select = { ip: true, country: true, metadata: true, actorKind: true };
    expect(await service.deps.services.database.prisma.securityLogEntry.findMany({ where, select })).toEqual([
      { ip: null, country: null, metadata: { changed: ['newPassword'] }, actorKind: 'operator' },
    ]);
  });

  test('ends all sessions; a login still needs a code, until --remove-totp turns TOTP off, which is logged', async () => {
    const { client, developer } = await createWorld(service);
    const { id, email } = developer;
    await seedTotp(service, id);
    const kept = await runCommand(words(email), env, { input: `${fresh}\n` });
    expect(kept).toMatchObject({ code: 0 });
    expect(kept.stderr).toMatch(/still needs a TOTP code .* --remove-totp/);
    expect((await client.get('/api/v1/auth/me')).status).toBe(401);
    expect((await login(service, email, fresh)).body).toMatchObject({ code: 'TOTP_REQUIRED' });

    const removed = await runCommand([...words(email), '--remove-totp'], env, { input: `${fresh}\n` });
    expect(removed).toMatchObject({ code: 0 });
    expect(removed.stderr).not.toMatch(/TOTP/);
    expect((await login(service, email, fresh)).status).toBe(200);
    const { prisma } = service.deps.services.database;
    const where = { developerId: id };
    expect(await prisma.recoveryCode.count({ where })).toBe(0);
    const entries = await prisma.securityLogEntry.findMany({ where: { ...where, event: 'totp_disabled' } });
    expect(entries.map(({ metadata, ip }) => ({ metadata, ip }))).toEqual([
      { metadata: { byOperator: true }, ip: null },
    ]);
  });

  test('prompts twice at a terminal and changes nothing if the two passwords differ', async () => {
    const { email, password } = (await createWorld(service)).developer;
    const ask = words(email).slice(0, -1);
    const unlike = await runCommand(ask, env, { input: terminalInput(fresh, `${fresh}!`) });
    expect(unlike).toMatchObject({ code: 1, stdout: '' });
    expect(unlike.stderr).toMatch(/not the same. Nothing was changed/);
    expect((await login(service, email, password)).status).toBe(200);
    expect(await runCommand(ask, env, { input: terminalInput(fresh, fresh) })).toMatchObject({ code: 0 });
    expect((await login(service, email, fresh)).status).toBe(200);
  });

  test.each([
    [
      'an email address without an account',
      words('nobody@example.com'),
      fresh,
      1,
      /No account in .* nobody@example\.com/,
    ],
    ['an address that is none', words('nobody'), fresh, 1, /cannot be set; the email: /],
    ['a short password', words('a@example.com'), 'x'.repeat(11), 1, /cannot be set; the password: /],
    ['no address', ['reset-password', '--password-stdin'], fresh, 2, /--email/],
    ['a password as an argument', [...words('a@example.com'), '--password', fresh], '', 2, /unknown option/],
  ])('%s is refused', async (_what, asked, input, code, reason) => {
    const run = await runCommand(asked, env, { input });
    expect(run).toMatchObject({ code, stdout: '' });
    expect(run.stderr).toMatch(reason);
  });
});

test('works on an embedded database while its service is stopped', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-reset-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const none = await runCommand(words('ada@example.com'), { DATA_DIR: directory }, { input: fresh });
  expect(none).toMatchObject({ code: 1, stdout: '' });
  expect(none.stderr).toMatch(/There is no database in/);
  expect(await readdir(directory)).toEqual([]);

  const before = await startTestServer({ database: 'memory', env: { DATA_DIR: directory } });
  const { email } = (await createWorld(before)).developer;
  const during = await runCommand(words(email), { DATA_DIR: directory }, { input: fresh });
  expect(during).toMatchObject({ code: 1, stdout: '' });
  expect(during.stderr).toMatch(/Stop the service, set the password/);
  await before.close();

  expect(await runCommand(words(email), { DATA_DIR: directory }, { input: fresh })).toMatchObject({
    code: 0,
  });
  const after = await startTestServer({ database: 'memory', env: { DATA_DIR: directory } });
  onTestFinished(() => after.close());
  expect((await login(after, email, fresh)).status).toBe(200);
}, 120_000);
