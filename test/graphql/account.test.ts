import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cookieOf } from '../setup/api-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { useServer } from '../setup/use-world.ts';
import { LoginDocument, LogoutDocument, MeDocument, RegisterDocument } from './generated/graphql.ts';
import {
  createApiKey,
  createGraphqlWorld,
  expectIssues,
  expectRefused,
  illFormedTexts,
  noLimits,
  payloadOf,
  visitor,
  whoAmI,
} from './support.ts';

const server = useServer({ env: noLimits });

let count = 0;
const account = () => ({
  email: `Ada.${process.pid}.${count++}@Example.com`,
  password: 'correct horse battery',
  name: 'Ada',
});
const sessionCookiePattern = /^service_session=[^;]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/;

describe('register', () => {
  test('creates an account and logs it in', async () => {
    const input = account();
    const client = visitor(server);
    const answer = await client.request(RegisterDocument, { input });
    const { developer } = payloadOf(answer, 'register');
    expect(developer).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: input.email,
      name: 'Ada',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(sessionCookiePattern)]);
    const cookie = cookieOf(answer.answer);
    expect(await whoAmI(client.with({ cookie: cookie ?? '' }))).toBe(developer.id);
  });

  test('refuses an address with an account, in any letter case', async () => {
    const input = account();
    const client = visitor(server);
    await client.request(RegisterDocument, { input });
    const again = await client.request(RegisterDocument, {
      input: { ...input, email: input.email.toUpperCase() },
    });
    expectRefused(again, 'EMAIL_TAKEN');
    expect(again.headers.getSetCookie()).toEqual([]);
  });

  test.each<Wrong>([
    ['an address that is none', { email: 'ada' }, 'email'],
    ['an address beyond 254 characters', { email: `${'a'.repeat(250)}@example.com` }, 'email'],
    ['a password of 11 characters', { password: 'a'.repeat(11) }, 'password'],
    ['a password of 129 characters', { password: 'a'.repeat(129) }, 'password'],
    ['a blank name', { name: '  ' }, 'name'],
    ['a name of 101 characters', { name: 'a'.repeat(101) }, 'name'],
    ['a token of 2049 characters', { turnstileToken: 'a'.repeat(2049) }, 'turnstileToken'],
    ...illFormedTexts.map(([what, text]) => [`${what} in the name`, { name: text }, 'name'] satisfies Wrong),
    ...illFormedTexts.map(
      ([what, text]) =>
        [`${what} in the password`, { password: `${text}${'a'.repeat(12)}` }, 'password'] satisfies Wrong,
    ),
  ])('refuses %s and says where', async (_what, fields, path) => {
    const answer = await visitor(server).request(RegisterDocument, { input: { ...account(), ...fields } });
    expectIssues(answer, [[path]]);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test('reports all problems together', async () => {
    const input = { email: 'ada', password: 'short', name: '' };
    const answer = await visitor(server).request(RegisterDocument, { input });
    expectIssues(answer, [['email'], ['password'], ['name']]);
  });

  test('treats null for an optional field as absent', async () => {
    const input = { ...account(), turnstileToken: null };
    payloadOf(await visitor(server).request(RegisterDocument, { input }), 'register');
  });
});

/** What is wrong, the fields that are, and where the issue lies. */
type Wrong = [what: string, fields: Record<string, unknown>, path: string];

describe('login', () => {
  test('sets a cookie that authenticates in GraphQL and REST', async () => {
    const { developer } = await createGraphqlWorld(server);
    const client = visitor(server);
    const { email, password } = developer;
    const answer = await client.request(LoginDocument, { input: { email: email.toUpperCase(), password } });
    expect(payloadOf(answer, 'login').developer).toEqual({ id: developer.id, email });
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(sessionCookiePattern)]);
    const loggedIn = client.with({ cookie: cookieOf(answer.answer) ?? '' });
    expect(await whoAmI(loggedIn)).toBe(developer.id);
    expect(await loggedIn.api.get('/api/v1/auth/me')).toMatchObject({
      status: 200,
      body: { developer: { id: developer.id } },
    });
  });

  test('over REST sets a cookie that authenticates in GraphQL', async () => {
    const { developer } = await createGraphqlWorld(server);
    const client = visitor(server);
    const { email, password } = developer;
    const cookie = cookieOf(await client.api.post('/api/v1/auth/login', { email, password }));
    expect(await whoAmI(client.with({ cookie: cookie ?? '' }))).toBe(developer.id);
  });

  test('gives the same response for a wrong password and an unknown address', async () => {
    const { developer } = await createGraphqlWorld(server);
    const client = visitor(server);
    const wrong = await client.request(LoginDocument, {
      input: { email: developer.email, password: 'not the password' },
    });
    const unknown = await client.request(LoginDocument, {
      input: { email: 'nobody@example.com', password: 'not the password' },
    });
    expectRefused(wrong, 'INVALID_CREDENTIALS');
    expect(wrong.headers.getSetCookie()).toEqual([]);
    expect(unknown.answer.body).toEqual(wrong.answer.body);
  });

  test.each<Wrong>([
    ['an empty address', { email: '' }, 'email'],
    ['an empty password', { password: '' }, 'password'],
    ['a password beyond 1024 characters', { password: 'a'.repeat(1025) }, 'password'],
    ...illFormedTexts.map(
      ([what, text]) => [`${what} in the address`, { email: text }, 'email'] satisfies Wrong,
    ),
  ])('refuses %s and says where', async (_what, fields, path) => {
    const input = { email: 'ada@example.com', password: 'some password', ...fields };
    expectIssues(await visitor(server).request(LoginDocument, { input }), [[path]]);
  });
});

describe('logout', () => {
  test('clears the cookie, logged in or not', async () => {
    const { graphql } = await createGraphqlWorld(server);
    for (const client of [graphql, visitor(server)]) {
      const answer = await client.request(LogoutDocument);
      expect(payloadOf(answer, 'logout')).toEqual({ success: true });
      expect(answer.headers.getSetCookie()).toEqual([
        'service_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
      ]);
    }
  });

  test('after a login in one document leaves the cookie cleared', async () => {
    const { developer } = await createGraphqlWorld(server);
    const answer = await visitor(server).ask(
      'mutation ($input: LoginInput!) { login(input: $input) { developer { id } } logout { success } }',
      { input: { email: developer.email, password: developer.password } },
    );
    expect(answer.errors).toEqual([]);
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^service_session=; Max-Age=0;/)]);
  });
});

describe('me', () => {
  test('returns the developer of the cookie', async () => {
    const { graphql, developer } = await createGraphqlWorld(server);
    const answer = await graphql.request(MeDocument);
    expect(payloadOf(answer, 'me')).toEqual({
      id: developer.id,
      email: developer.email,
      name: 'Ada',
      keyCreationMode: 'default',
      licenseMask: null,
      createdAt: expect.any(String),
    });
  });

  test('returns the developer of the API key', async () => {
    const { client, developer } = await createGraphqlWorld(server);
    const { apiKey } = await createApiKey(client);
    expect(await whoAmI(visitor(server).with({ bearer: apiKey }))).toBe(developer.id);
  });

  test('uses the cookie if it comes with the bearer key of another developer', async () => {
    const [one, other] = [await createGraphqlWorld(server), await createGraphqlWorld(server)];
    const { apiKey } = await createApiKey(other.client);
    expect(await whoAmI(one.graphql.with({ bearer: apiKey }))).toBe(one.developer.id);
  });
});

describe('with a bot challenge', () => {
  let verifier: Server;
  let guarded: TestServer;
  beforeAll(async () => {
    verifier = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      const token = new URLSearchParams(Buffer.concat(parts).toString()).get('response');
      if (token === 'down') response.writeHead(500).end('oops');
      else response.end(JSON.stringify({ success: token === 'solved' }));
    });
    await new Promise<void>((resolve) => verifier.listen(0, '127.0.0.1', resolve));
    const { port } = verifier.address() as AddressInfo;
    guarded = await startTestServer({
      env: { ...noLimits, TURNSTILE_SECRET_KEY: 'key', TURNSTILE_VERIFY_URL: `http://127.0.0.1:${port}/` },
    });
  });
  afterAll(async () => {
    await guarded.close();
    await new Promise((resolve) => verifier.close(resolve));
  });

  test('register and login accept a solved token and refuse any other', async () => {
    const client = visitor(guarded);
    const input = account();
    for (const turnstileToken of [undefined, null, '', 'wrong']) {
      const refused = await client.request(RegisterDocument, { input: { ...input, turnstileToken } });
      expectRefused(refused, 'BOT_CHALLENGE_FAILED');
    }
    const solved = { ...input, turnstileToken: 'solved' };
    payloadOf(await client.request(RegisterDocument, { input: solved }), 'register');
    const { email, password } = input;
    expectRefused(
      await client.request(LoginDocument, { input: { email, password, turnstileToken: 'wrong' } }),
      'BOT_CHALLENGE_FAILED',
    );
    const right = { email, password, turnstileToken: 'solved' };
    payloadOf(await client.request(LoginDocument, { input: right }), 'login');
  });

  test('a verifier that does not answer is UNAVAILABLE', async () => {
    const input = { ...account(), turnstileToken: 'down' };
    expectRefused(await visitor(guarded).request(RegisterDocument, { input }), 'UNAVAILABLE');
  });
});
