import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiAnswer, ApiClient, cookieOf } from '../setup/api-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { apiKeyAnswer, developerAnswer, expectFailure, expectSuccess } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const day = 24 * 60 * 60;

/** Attributes of the one cookie that an answer sets. */
function attributesOf(answer: ApiAnswer): string[] {
  const cookies = answer.headers.getSetCookie();
  expect(cookies).toHaveLength(1);
  const [pair = '', ...attributes] = (cookies[0] ?? '').split('; ');
  expect(pair.startsWith('service_session=')).toBe(true);
  return attributes.sort();
}

async function loggedIn(on = server) {
  const world = await createWorld(on);
  const answer = await new ApiClient(on.baseUrl).post('/api/v1/auth/login', world.developer);
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

  test('is cleared with the same attributes and no age', async () => {
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

  test('is set by nothing but registering, logging in and out', async () => {
    const { world } = await loggedIn();
    const application = await world.createApplication();
    for (const path of ['/api/v1/auth/me', '/api/v1/apps/', `/api/v1/apps/${application.id}`]) {
      expect((await world.client.get(path)).headers.getSetCookie()).toEqual([]);
    }
  });
});

describe('who is logged in', () => {
  test('a cookie works until its 7 days are over, and not a second longer', async () => {
    const aging = await startTestServer();
    try {
      const { world, cookie } = await loggedIn(aging);
      const { exp = 0 } = decodeJwt(cookie);
      const remaining = () => exp - aging.clock.now() / 1000;
      aging.clock.step(remaining() - 30);
      expect((await world.client.with({ cookie }).get('/api/v1/auth/me')).status).toBe(200);
      // Up: a fraction of a millisecond before the second, it is not over yet.
      aging.clock.step(Math.ceil(remaining()));
      expectFailure(await world.client.with({ cookie }).get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
      const again = await new ApiClient(aging.baseUrl).post('/api/v1/auth/login', world.developer);
      expect(again.status).toBe(200);
    } finally {
      await aging.close();
    }
  });

  test('raising session_version ends every older cookie and no newer one', async () => {
    const { world, cookie } = await loggedIn();
    await server.deps.services.database.prisma.developer.update({
      where: { id: world.developer.id },
      data: { sessionVersion: { increment: 1 } },
    });
    expectFailure(await world.client.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
    expectFailure(await world.client.with({ cookie }).get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
    const answer = await new ApiClient(server.baseUrl).post('/api/v1/auth/login', world.developer);
    const newer = world.client.with({ cookie: cookieOf(answer) ?? '' });
    expect((await newer.get('/api/v1/auth/me')).status).toBe(200);
  });

  test('a cookie that a new password has ended stays so when the database goes back and the password changes again', async () => {
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
    // As a backup from before is restored.
    await developer.update({ ...row, data: { sessionVersion, passwordHash } });
    expectFailure(await later.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
    const newest = await change(world.client);
    expect((await newest.get('/api/v1/auth/me')).status).toBe(200);
    expectFailure(await later.get('/api/v1/auth/me'), 401, 'UNAUTHENTICATED');
  });

  test('the cookie is used when a bearer key comes with it', async () => {
    const { world } = await loggedIn();
    const other = await createWorld(server);
    const created = await other.client.post('/api/v1/account/api-keys', { name: 'key' });
    const bearer = expectSuccess(created, 201, apiKeyAnswer).key.apiKey;

    const both = await world.client.with({ bearer }).get('/api/v1/auth/me');
    expect(expectSuccess(both, 200, developerAnswer).developer.id).toBe(world.developer.id);
    const badBearer = await world.client.with({ bearer: 'rubbish' }).get('/api/v1/auth/me');
    expect(badBearer.status).toBe(200);
    const badCookie = await world.client.with({ cookie: 'rubbish', bearer }).get('/api/v1/auth/me');
    expectFailure(badCookie, 401, 'UNAUTHENTICATED');
    const bearerAlone = await new ApiClient(server.baseUrl, { bearer }).get('/api/v1/auth/me');
    expect(expectSuccess(bearerAlone, 200, developerAnswer).developer.id).toBe(other.developer.id);
  });
});

describe('a cookie that we did not sign', () => {
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

  test('is nobody, whatever was done to it', async () => {
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

  test('is nobody also under our own key, when it was made for something else', async () => {
    const { cookie, world } = await loggedIn();
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
      { ...payload, sessionVersion: 1 },
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
