import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type ApiAnswer, ApiClient, cookieOf } from '../setup/api-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type World } from '../setup/world.ts';
import { apiKeyAnswer, developerAnswer, expectFailure, expectSuccess } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const day = 24 * 60 * 60;

/** The attributes of the only cookie in a response. */
function attributesOf(answer: ApiAnswer): string[] {
  const cookies = answer.headers.getSetCookie();
  expect(cookies).toHaveLength(1);
  const [pair = '', ...attributes] = (cookies[0] ?? '').split('; ');
  expect(pair.startsWith('service_session=')).toBe(true);
  return attributes.sort();
}

async function loggedIn(on = server) {
  const world = await createWorld(on);
  const answer = await new ApiClient(on.baseUrl).post('/api/v1/auth/login', world.login);
  const cookie = cookieOf(answer);
  if (cookie === undefined) throw new Error('logging in set no cookie');
  return { world, answer, cookie };
}

describe('the session cookie', () => {
  test('is HttpOnly, Lax, for the whole site and 7 days; not Secure over http', async () => {
    const { answer } = await loggedIn();
    expect(attributesOf(answer)).toEqual(['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Lax']);
  });

  test('is set the same by registering', async () => {
    const body = { email: 'register@example.com', password: 'correct horse battery', name: 'Ada' };
    const answer = await new ApiClient(server.baseUrl).post('/api/v1/auth/register', body);
    expect(attributesOf(answer)).toEqual(['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Lax']);
  });

  test('is cleared with the same attributes and Max-Age 0', async () => {
    const { world } = await loggedIn();
    const answer = await world.client.post('/api/v1/auth/logout');
    expect(attributesOf(answer)).toEqual(['HttpOnly', 'Max-Age=0', 'Path=/', 'SameSite=Lax']);
  });

  test('is Secure exactly when PUBLIC_URL is https', async () => {
    const secure = await startTestServer({ env: { PUBLIC_URL: 'HTTPS://dash.example.com' } });
    try {
      const { answer, world } = await loggedIn(secure);
      expect(attributesOf(answer)).toEqual([
        'HttpOnly',
        'Max-Age=604800',
        'Path=/',
        'SameSite=Lax',
        'Secure',
      ]);
      expect(attributesOf(await world.client.post('/api/v1/auth/logout'))).toContain('Secure');
    } finally {
      await secure.close();
    }
  });

  test('is a JWT under EdDSA that names the developer and lives 7 days', async () => {
    const { world, cookie } = await loggedIn();
    expect(decodeProtectedHeader(cookie).alg).toBe('EdDSA');
    const { sub, iat = 0, exp = 0 } = decodeJwt(cookie);
    expect(sub).toBe(world.developer.id);
    expect(exp - iat).toBe(7 * day);
  });

  test('is set only by registering, logging in and logging out', async () => {
    const { world } = await loggedIn();
    const application = await world.createApplication();
    for (const path of ['/api/v1/auth/me', '/api/v1/apps/', `/api/v1/apps/${application.id}`]) {
      expect((await world.client.get(path)).headers.getSetCookie()).toEqual([]);
    }
  });
});

describe('authentication by cookie', () => {
  test('a cookie is valid for exactly 7 days', async () => {
    const aging = await startTestServer();
    try {
      const { world, cookie } = await loggedIn(aging);
      const { exp = 0 } = decodeJwt(cookie);
      const remaining = () => exp - aging.clock.now() / 1000;
      aging.clock.step(remaining() - 30);
      expect((await world.client.with({ cookie }).get('/api/v1/auth/me')).status).toBe(200);
      // Rounded up: a fraction of a millisecond before that second, the cookie is still valid.
      aging.clock.step(Math.ceil(remaining()));
      expectFailure(await world.client.with({ cookie }).get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
      const again = await new ApiClient(aging.baseUrl).post('/api/v1/auth/login', world.login);
      expect(again.status).toBe(200);
    } finally {
      await aging.close();
    }
  });

  test('raising session_version ends every earlier cookie and no later one', async () => {
    const { world, cookie } = await loggedIn();
    await server.deps.services.database.prisma.developer.update({
      where: { id: world.developer.id },
      data: { sessionVersion: { increment: 1 } },
    });
    expectFailure(await world.client.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
    expectFailure(await world.client.with({ cookie }).get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
    const answer = await new ApiClient(server.baseUrl).post('/api/v1/auth/login', world.login);
    const newer = world.client.with({ cookie: cookieOf(answer) ?? '' });
    expect((await newer.get('/api/v1/auth/me')).status).toBe(200);
  });

  test('a cookie that a new password has ended stays invalid after the database is restored and the password changes again', async () => {
    const { world } = await loggedIn();
    const { developer } = server.deps.services.database.prisma;
    const row = { where: { id: world.developer.id } };
    const { sessionVersion, passwordHash } = await developer.findUniqueOrThrow(row);
    const { password } = world.developer;
    const change = async (client: ApiClient) => {
      const answer = await client.patch('/api/v1/account/profile', { password, newPassword: `${password}!` });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return client.with({ cookie: cookieOf(answer) ?? '' });
    };
    const later = await change(world.client);
    // As if an earlier backup were restored.
    await developer.update({ ...row, data: { sessionVersion, passwordHash } });
    expectFailure(await later.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
    const newest = await change(world.client);
    expect((await newest.get('/api/v1/auth/me')).status).toBe(200);
    expectFailure(await later.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
  });

  describe('together with a bearer key', () => {
    let world: World;
    let owner: World;
    let bearer: string;
    beforeAll(async () => {
      ({ world } = await loggedIn());
      owner = await createWorld(server);
      const created = await owner.client.post('/api/v1/account/api-keys', { name: 'key' });
      bearer = expectSuccess(created, 201, apiKeyAnswer).key.apiKey;
    });
    const whoIs = async (client: ApiClient) =>
      expectSuccess(await client.get('/api/v1/auth/me'), 200, developerAnswer).developer.id;

    test('is used if it is valid, whatever the key is', async () => {
      expect(await whoIs(world.client.with({ bearer }))).toBe(world.developer.id);
      expect(await whoIs(world.client.with({ bearer: 'rubbish' }))).toBe(world.developer.id);
    });

    test('is ignored if it is malformed, empty, expired or ended, and the key is valid', async () => {
      const { client, developer } = await createWorld(server);
      const { password } = developer;
      await client.patch('/api/v1/account/profile', { password, newPassword: `${password}!` });
      expectFailure(await client.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
      expect(await whoIs(client.with({ bearer }))).toBe(owner.developer.id);
      for (const cookie of ['rubbish', '', 'a.b.c', bearer]) {
        expect(await whoIs(client.with({ cookie, bearer })), cookie).toBe(owner.developer.id);
      }
    });

    test('that is invalid does not block changes with a key, over both transports', async () => {
      const client = new ApiClient(server.baseUrl, { cookie: 'rubbish', bearer });
      expect((await client.post('/api/v1/apps/create', { name: 'By REST' })).status).toBe(201);
      const query = 'mutation { createApplication(input: { name: "By GraphQL" }) { application { name } } }';
      expect((await client.post('/graphql', { query })).body).toEqual({
        data: { createApplication: { application: { name: 'By GraphQL' } } },
      });
    });

    test('that is invalid does not allow more attempts with a key, and the error is about the key', async () => {
      const own = await startTestServer({ env: { RATE_LIMITS: 'apiKeyAuth=3' } });
      onTestFinished(() => own.close());
      const client = new ApiClient(own.baseUrl, { cookie: 'rubbish', bearer: 'rubbish' });
      for (let turn = 0; turn < 3; turn++) {
        const { error } = expectFailure(await client.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
        expect(error).toMatch(/API key/);
      }
      expectFailure(await client.get('/api/v1/auth/me'), 429, 'RATE_LIMITED');
    });

    test('that is invalid can be cleared by a logout, and the key stays valid', async () => {
      const client = new ApiClient(server.baseUrl, { cookie: 'rubbish', bearer });
      const answer = await client.post('/api/v1/auth/logout');
      expect(answer.status).toBe(200);
      expect(cookieOf(answer)).toBe('');
      expect(await whoIs(client)).toBe(owner.developer.id);
    });
  });
});

describe('a forged cookie', () => {
  const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const stranger = generateKeyPairSync('ed25519').privateKey;
  const signed = (header: { alg: string; [name: string]: unknown }, payload: JWTPayload, key = stranger) =>
    new SignJWT(payload).setProtectedHeader(header).sign(key);
  /** Flips one bit of the first byte of a part; the last characters of base64url may hold padding bits. */
  const flip = (cookie: string, part: 0 | 1 | 2) => {
    const parts = cookie.split('.');
    const bytes = Buffer.from(parts[part] ?? '', 'base64url');
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    parts[part] = bytes.toString('base64url');
    return parts.join('.');
  };

  test('does not authenticate, however it was changed', async () => {
    const { cookie } = await loggedIn();
    const other = await loggedIn();
    const payload = decodeJwt(cookie);
    const header = decodeProtectedHeader(cookie);
    const [head = '', body = '', signature = ''] = cookie.split('.');
    const publicKey = server.deps.services.keyring.cookie.publicKey;
    const publicPem = publicKey.export({ type: 'spki', format: 'pem' });
    const publicRaw = Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url');
    const forged = {
      'header changed': flip(cookie, 0),
      'payload changed': flip(cookie, 1),
      'signature changed': flip(cookie, 2),
      'signature of another cookie': `${head}.${body}.${other.cookie.split('.')[2]}`,
      'payload of another developer': `${head}.${base64url(decodeJwt(other.cookie))}.${signature}`,
      'later expiry': `${head}.${base64url({ ...payload, exp: (payload.exp ?? 0) + day })}.${signature}`,
      'no signature': `${head}.${body}.`,
      'two parts': `${head}.${body}`,
      'four parts': `${cookie}.${signature}`,
      'signed by another key': await signed({ alg: 'EdDSA' }, payload),
      'key in its own header': await signed(
        { alg: 'EdDSA', jwk: generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }) },
        payload,
      ),
      'alg none': `${base64url({ ...header, alg: 'none' })}.${body}.`,
      'alg None with signature': `${base64url({ ...header, alg: 'None' })}.${body}.${signature}`,
      'HMAC under the public key (PEM)': await new SignJWT(payload)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(Buffer.from(publicPem)),
      'HMAC under the public key (raw)': await new SignJWT(payload)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(publicRaw),
      empty: '',
      dots: '..',
      rubbish: 'rubbish',
      'percent rubbish': '%E0%A4%A',
      'percent NUL': '%00',
      long: 'a'.repeat(6_000),
      'developer id': String(payload.sub),
    };
    for (const [what, value] of Object.entries(forged)) {
      const answer = await new ApiClient(server.baseUrl, { cookie: value }).get('/api/v1/auth/me');
      expect(`${what}: ${answer.status}`).toBe(`${what}: 401`);
      expectFailure(answer, 401, 'UNAUTHENTICATED');
    }
    expect((await new ApiClient(server.baseUrl, { cookie }).get('/api/v1/auth/me')).status).toBe(200);
  });

  test('does not authenticate if it was signed with the right key for another purpose', async () => {
    const { cookie, world } = await loggedIn();
    const other = await loggedIn();
    const payload = decodeJwt(cookie);
    const ours = server.deps.services.keyring.cookie.privateKey;
    const header = { alg: 'EdDSA', typ: 'JWT' };
    const without = (name: string) =>
      Object.fromEntries(Object.entries(payload).filter(([member]) => member !== name));
    const variants: JWTPayload[] = [
      without('exp'),
      without('sub'),
      without('aud'),
      without('sessionVersion'),
      { ...payload, aud: 'another/audience' },
      { ...payload, sub: 'not-a-uuid' },
      { ...payload, sub: `${payload.sub}'; --` },
      { ...without('sid'), sessionVersion: 1 },
      { ...payload, sid: randomUUID() },
      { ...payload, sid: decodeJwt(other.cookie).sid },
      { ...payload, sessionVersion: '0' },
      { ...payload, exp: Math.floor(server.clock.now() / 1000) - 1 },
    ];
    for (const variant of variants) {
      const value = await signed(header, variant, ours);
      const answer = await world.client.with({ cookie: value }).get('/api/v1/auth/me');
      expect(answer.status, JSON.stringify(variant)).toBe(401);
    }
    const control = await signed(header, payload, ours);
    expect((await world.client.with({ cookie: control }).get('/api/v1/auth/me')).status).toBe(200);
  });
});
