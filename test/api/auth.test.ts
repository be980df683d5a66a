import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { networkOf } from '../../src/lib/ip.ts';
import { ApiClient, cookieOf } from '../setup/api-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { useServer } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import { developerAnswer, expectFailure, expectIssue, expectSuccess } from './support.ts';

const server = useServer();

const visitor = () => new ApiClient(server.baseUrl);
let addresses = 0;
const freshEmail = () => `developer${++addresses}@example.com`;
const password = 'correct horse battery';

const eventsOf = async (developerId: string) => {
  const rows = await server.deps.services.database.prisma.securityLogEntry.findMany({
    where: { developerId },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ event, ip, applicationId }) => ({ event, ip, applicationId }));
};

test('health needs no login', async () => {
  const answer = await visitor().get('/health');
  expect(answer.status).toBe(200);
  expect(z.strictObject({ ok: z.literal(true), service: z.string().min(1) }).parse(answer.body)).toBeTruthy();
});

describe('registering', () => {
  test('creates an account, returns it and logs it in', async () => {
    const email = 'Ada.Lovelace@Example.COM';
    const answer = await visitor().post('/api/v1/auth/register', { email, password, name: 'Ada' });
    const { developer } = expectSuccess(answer, 201, developerAnswer);
    expect(developer).toMatchObject({ email, name: 'Ada', keyCreationMode: 'default', licenseMask: null });

    const me = await visitor()
      .with({ cookie: cookieOf(answer) ?? '' })
      .get('/api/v1/auth/me');
    expect(expectSuccess(me, 200, developerAnswer).developer).toEqual(developer);
  });

  test('stores the password only as an Argon2id hash, and logs the registration', async () => {
    const client = visitor();
    const answer = await client.post('/api/v1/auth/register', { email: freshEmail(), password, name: 'Ada' });
    const { developer } = expectSuccess(answer, 201, developerAnswer);
    const row = await server.deps.services.database.prisma.developer.findUniqueOrThrow({
      where: { id: developer.id },
    });
    expect(row.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(JSON.stringify(row)).not.toContain(password);
    expect(await eventsOf(developer.id)).toEqual([
      { event: 'developer_registered', ip: client.ip, applicationId: null },
    ]);
  });

  test('an address is taken in any letter case', async () => {
    const email = freshEmail();
    const first = await visitor().post('/api/v1/auth/register', { email, password, name: 'Ada' });
    expect(first.status).toBe(201);
    for (const spelling of [email, email.toUpperCase()]) {
      const again = await visitor().post('/api/v1/auth/register', { email: spelling, password, name: 'Eve' });
      expectFailure(again, 409, 'EMAIL_TAKEN');
      expect(cookieOf(again)).toBeUndefined();
    }
  });

  test.each([
    ['11 characters', 'x'.repeat(11), false],
    ['12 characters', 'x'.repeat(12), true],
    ['128 characters', 'x'.repeat(128), true],
    ['129 characters', 'x'.repeat(129), false],
  ])('a password of %s', async (_name, candidate, accepted) => {
    const body = { email: freshEmail(), password: candidate, name: 'Ada' };
    const answer = await visitor().post('/api/v1/auth/register', body);
    if (!accepted) return expectIssue(answer, 'password');
    expect(answer.status).toBe(201);
    const { name: _, ...credentials } = body;
    expect((await visitor().post('/api/v1/auth/login', credentials)).status).toBe(200);
  });

  test('all invalid fields are reported together', async () => {
    const answer = await visitor().post('/api/v1/auth/register', { email: 'nobody', password: 'short' });
    const { issues = [] } = expectFailure(answer, 400, 'VALIDATION_FAILED');
    expect(issues.map((issue) => issue.path)).toEqual([['email'], ['password'], ['name']]);
  });
});

describe('logging in', () => {
  test('returns the developer for the address in any letter case, and logs it', async () => {
    const email = freshEmail();
    const registered = await visitor().post('/api/v1/auth/register', { email, password, name: 'Ada' });
    const { developer } = expectSuccess(registered, 201, developerAnswer);
    const client = visitor();
    const answer = await client.post('/api/v1/auth/login', { email: email.toUpperCase(), password });
    expect(expectSuccess(answer, 200, developerAnswer).developer).toEqual(developer);
    expect((await eventsOf(developer.id)).at(-1)).toEqual({
      event: 'developer_logged_in',
      ip: client.ip,
      applicationId: null,
    });
    const me = await client.with({ cookie: cookieOf(answer) ?? '' }).get('/api/v1/auth/me');
    expect(me.status).toBe(200);
  });

  test('a wrong password and an unknown address get the same response and no cookie', async () => {
    const world = await createWorld(server);
    const wrong = await visitor().post('/api/v1/auth/login', {
      email: world.developer.email,
      password: `${world.developer.password}!`,
    });
    const unknown = await visitor().post('/api/v1/auth/login', { email: 'nobody@example.com', password });
    expectFailure(wrong, 401, 'INVALID_CREDENTIALS');
    expect(unknown.status).toBe(401);
    expect(unknown.body).toEqual(wrong.body);
    expect(cookieOf(wrong)).toBeUndefined();
    expect(cookieOf(unknown)).toBeUndefined();
    const expected = ['developer_registered', 'developer_login_failed'];
    // Written in the background, so that response times reveal nothing.
    await vi.waitFor(
      async () => expect((await eventsOf(world.developer.id)).map(({ event }) => event)).toEqual(expected),
      { timeout: 10_000 },
    );
  });

  test('a failed login is logged soon, and does not delay changes of its account', async () => {
    const world = await createWorld(server);
    const { id } = await world.createApplication();
    const { changeTurns } = server.deps.services;
    const attacker = visitor();
    // Other requests of the attacker's network take all turns and wait for more.
    const begun: (() => void)[] = [];
    const others = Array.from({ length: 8 }, (_, number) =>
      changeTurns.take(
        { developer: `account ${number}`, network: networkOf(attacker.ip) },
        () => new Promise<void>((resolve) => begun.push(resolve)),
      ),
    );
    const eventually = <Result>(look: () => Result) => vi.waitFor(look, { timeout: 20_000 });
    const endOne = async () => (await eventually(() => begun.shift() ?? expect.fail('none has begun')))();
    const failed = await attacker.post('/api/v1/auth/login', {
      ...world.login,
      password: 'a wrong password',
    });
    expectFailure(failed, 401, 'INVALID_CREDENTIALS');
    await eventually(() => expect(changeTurns.developers).toBe(others.length + 1));
    let changed: number | null = null;
    const changing = world.client
      .patch(`/api/v1/apps/${id}/settings`, { version: '2' })
      .then(({ status }) => (changed = status));
    const isWaiting = () => changeTurns.developers === others.length + 2;
    await eventually(() => expect(changed !== null || isWaiting()).toBe(true));
    // If there is one turn for all, the network gets the next one, and the account the one after it.
    let ended = 0;
    for (; changed === null && ended < 2; ended += 1) await endOne();
    await eventually(() => expect(changed).toBe(200));

    for (let left = others.length - ended; left > 0; left -= 1) await endOne();
    await Promise.all([changing, ...others]);
    await eventually(async () =>
      expect((await eventsOf(world.developer.id)).map(({ event }) => event)).toContain(
        'developer_login_failed',
      ),
    );
    await eventually(() => expect(changeTurns.developers).toBe(0));
  });

  test('a password is not trimmed, normalized or truncated', async () => {
    const email = freshEmail();
    const exact = ` Pässwörd ${'x'.repeat(80)} `;
    const registered = await visitor().post('/api/v1/auth/register', { email, password: exact, name: 'Ada' });
    expect(registered.status).toBe(201);
    for (const candidate of [exact.trim(), exact.toLowerCase(), exact.slice(0, 72), exact.normalize('NFD')]) {
      const answer = await visitor().post('/api/v1/auth/login', { email, password: candidate });
      expectFailure(answer, 401, 'INVALID_CREDENTIALS');
    }
    expect((await visitor().post('/api/v1/auth/login', { email, password: exact })).status).toBe(200);
  });

  test('a password of an invalid length is a wrong password', async () => {
    const world = await createWorld(server);
    for (const candidate of ['x', 'x'.repeat(129)]) {
      const body = { email: world.developer.email, password: candidate };
      expectFailure(await visitor().post('/api/v1/auth/login', body), 401, 'INVALID_CREDENTIALS');
    }
  });
});

describe('/auth/me', () => {
  test('requires a credential', async () => {
    expectFailure(await visitor().get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
  });

  test('is unauthenticated after the account is deleted, with cookie and with key', async () => {
    const world = await createWorld(server);
    const created = await world.client.post('/api/v1/account/api-keys', { name: 'key' });
    const { key } = z.object({ key: z.object({ apiKey: z.string() }) }).parse(created.body);
    await server.deps.services.database.prisma.developer.delete({ where: { id: world.developer.id } });
    expectFailure(await world.client.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
    expectFailure(
      await visitor().with({ bearer: key.apiKey }).get('/api/v1/auth/me'),
      401,
      'UNAUTHENTICATED',
    );
  });
});

describe('logging out', () => {
  test('works with and without a login', async () => {
    const world = await createWorld(server);
    for (const client of [world.client, visitor(), visitor().with({ cookie: 'rubbish' })]) {
      const answer = await client.post('/api/v1/auth/logout');
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ success: true });
      expect(cookieOf(answer)).toBe('');
    }
  });
});

describe('with a bot challenge', () => {
  const asked: URLSearchParams[] = [];
  let verdict: (form: URLSearchParams) => string = () => '{"success":true}';
  const verifier = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      const form = new URLSearchParams(body);
      asked.push(form);
      response.end(verdict(form));
    });
  });
  let guarded: TestServer;
  beforeAll(async () => {
    await new Promise<void>((resolve) => verifier.listen(0, '127.0.0.1', resolve));
    const { port } = verifier.address() as AddressInfo;
    guarded = await startTestServer({
      env: {
        TURNSTILE_SECRET_KEY: 'the verifier knows this',
        TURNSTILE_VERIFY_URL: `http://127.0.0.1:${port}/siteverify`,
      },
    });
  });
  afterAll(async () => {
    await guarded.close();
    await new Promise((resolve) => verifier.close(resolve));
  });

  test('registering and logging in need a token that the verifier accepts', async () => {
    verdict = (form) => JSON.stringify({ success: form.get('response') === 'solved' });
    const client = new ApiClient(guarded.baseUrl);
    const credentials = { email: freshEmail(), password };
    const account = { ...credentials, name: 'Ada' };
    for (const [path, body] of [
      ['/api/v1/auth/register', account],
      ['/api/v1/auth/login', credentials],
    ] as const) {
      for (const turnstileToken of [undefined, '', 'unsolved']) {
        const answer = await client.post(path, { ...body, turnstileToken });
        expectFailure(answer, 400, 'BOT_CHALLENGE_FAILED');
      }
    }
    const registered = await client.post('/api/v1/auth/register', { ...account, turnstileToken: 'solved' });
    expect(registered.status).toBe(201);
    const login = await client.post('/api/v1/auth/login', { ...credentials, turnstileToken: 'solved' });
    expect(login.status).toBe(200);
    expect(Object.fromEntries(asked.at(-1) ?? [])).toEqual({
      secret: 'the verifier knows this',
      response: 'solved',
      remoteip: client.ip,
    });
  });

  test('an invalid response of the verifier is 503 and logs no one in', async () => {
    verdict = () => '<html>';
    const body = { email: freshEmail(), password, name: 'Ada', turnstileToken: 'solved' };
    const answer = await new ApiClient(guarded.baseUrl).post('/api/v1/auth/register', body);
    expectFailure(answer, 503, 'UNAVAILABLE');
    expect(
      await guarded.deps.services.database.prisma.developer.count({ where: { email: body.email } }),
    ).toBe(0);
  });
});
