import { describe, expect } from 'vitest';
import { clientPaths } from '../../src/protocol/constants.ts';
import {
  innerLoginRequest,
  innerRegisterRequest,
  innerUpgradeRequest,
  verdictCodes,
} from '../../src/protocol/messages.ts';
import { type Client, type ClientAuthOutcome, createClient } from '../../src/sdk/index.ts';
import { test } from './fixture.ts';
import { appId, json, refusal } from './stand-in.ts';

const username = 'ada';
const password = 'correct horse';
const licenseKey = 'QW7RT-9XKLM-2VBNP-HJ4DF-6SGC8';
const hwid = 'device-1';

/** The members that bind an inner answer to its request. */
const binding = ['sessionId', 'timestamp', 'v', 'nonce', 'requestSha256B64'];

type Ask = (client: Client, more?: { signal?: AbortSignal; hwid?: string }) => Promise<ClientAuthOutcome>;
const verbs: [name: 'register' | 'login' | 'upgrade', ask: Ask][] = [
  ['register', (client, more) => client.register({ username, password, ...more })],
  ['login', (client, more) => client.login({ username, password, ...more })],
  ['upgrade', (client, more) => client.upgrade({ username, licenseKey, ...more })],
];

const success = {
  kind: 'verdict',
  source: 'service',
  valid: true,
  code: 'OK',
  message: 'License is valid.',
  sessionToken: 'an-opaque-token',
  expiresAt: new Date('2030-01-08T00:00:00.000Z'),
  user: { id: '01890a5d-ac96-774b-bcce-b302099a8058', username, email: null, applicationId: appId },
  license: {
    id: '01890a5d-ac96-774b-bcce-b302099a8059',
    status: 'active',
    expiresAt: new Date('2030-01-01T00:00:00.000Z'),
    subscriptionTier: 3,
    graceEndsAt: null,
    entitlements: {},
    metadata: {},
  },
  session: { ip: '192.0.2.1', hwid: null },
};

describe.for(verbs)('%s', ([name, ask]) => {
  test('returns the user, the token, the license and the session', async ({ server }) => {
    expect(await ask(createClient(server.options))).toEqual(success);
    expect(server.seen.map(({ path }) => path)).toEqual([clientPaths.sessionInit, clientPaths[name]]);
  });

  test('returns no license, one that never expires, and an email', async ({ server }) => {
    const client = createClient(server.options);
    server.onClientAuth = ({ sealed, inner }) => sealed({ ...inner, license: null });
    expect(await ask(client)).toEqual({ ...success, license: null });
    const { id, status, subscriptionTier } = success.license;
    const license = { id, status, subscriptionTier, expiresAt: null };
    const user = { ...success.user, email: 'ada@example.com' };
    server.onClientAuth = ({ sealed, inner }) => sealed({ ...inner, license, user });
    expect(await ask(client)).toEqual({ ...success, license: { ...success.license, expiresAt: null }, user });
  });

  test('reports every signed refusal with its code and message, including unknown codes', async ({
    server,
  }) => {
    const client = createClient(server.options);
    for (const code of [...verdictCodes.filter((each) => each !== 'OK'), 'OF_THE_FUTURE']) {
      server.onClientAuth = ({ sealed, inner }) => {
        const bound = Object.entries(inner).filter(([member]) => binding.includes(member));
        return sealed({ ...Object.fromEntries(bound), success: false, code, message: 'Nö' });
      };
      expect(await ask(client)).toEqual({
        kind: 'verdict',
        source: 'service',
        valid: false,
        code,
        message: 'Nö',
      });
    }
  });

  test.for([
    ['success with another code', { code: 'BANNED' }],
    ['OK without success', { success: false }],
    ['success that is no boolean', { success: 'true' }],
    ['an end that is no instant', { expiresAt: 'tomorrow' }],
    ['no end', { expiresAt: null }],
    ['an empty token', { sessionToken: '' }],
    ['a user that is null', { user: null }],
    [
      'a license without a tier',
      { license: { ...success.license, expiresAt: null, subscriptionTier: null } },
    ],
    ['another session', { sessionId: 'another' }],
    ['another nonce', { nonce: 'AAAAAAAAAAAAAAAAAAAAAA==' }],
  ] as const)('trusts no answer with %s', async ([_what, change], { server }) => {
    server.onClientAuth = ({ sealed, inner }) => sealed({ ...inner, ...change });
    expect(await ask(createClient(server.options))).toMatchObject({
      kind: 'failure',
      reason: 'untrusted-answer',
    });
  });

  test.for([
    'success',
    'code',
    'message',
    'sessionToken',
    'expiresAt',
    'user',
    'license',
    'session',
    'sessionId',
    'timestamp',
    'v',
    'nonce',
  ])('trusts no answer without %s', async (member, { server }) => {
    server.onClientAuth = ({ sealed, inner }) => {
      const { [member]: _, ...rest } = inner;
      return sealed(rest);
    };
    expect(await ask(createClient(server.options))).toMatchObject({
      kind: 'failure',
      reason: 'untrusted-answer',
    });
  });

  test('does not trust responses signed with another key, or not sealed', async ({ server }) => {
    server.onClientAuth = ({ sealed, inner }) => sealed(inner, { seed: new Uint8Array(32).fill(3) });
    expect(await ask(createClient(server.options))).toMatchObject({ reason: 'untrusted-answer' });
    server.onClientAuth = ({ inner }) => json(200, inner);
    expect(await ask(createClient(server.options))).toMatchObject({ reason: 'untrusted-answer' });
  });

  test('distinguishes each failure from a refusal', async ({ server }) => {
    const client = createClient({ ...server.options, timeoutMs: 300 });
    const failure = (reason: string) => ({ kind: 'failure', reason });
    server.onClientAuth = () => refusal('RATE_LIMITED');
    expect(await ask(client)).toMatchObject(failure('rate-limited'));
    server.onClientAuth = () => refusal('UNAVAILABLE');
    expect(await ask(client)).toMatchObject(failure('unavailable'));
    server.onClientAuth = () => refusal('CRYPTO_REQUIRED');
    expect(await ask(client)).toMatchObject({ ...failure('server-rejected'), code: 'CRYPTO_REQUIRED' });
    server.onClientAuth = () => refusal('CLOCK_SKEW');
    expect(await ask(client)).toMatchObject(failure('clock'));
    server.onClientAuth = () => (response) => response.destroy();
    expect(await ask(client)).toMatchObject(failure('network'));
    server.onClientAuth = () => () => {};
    expect(await ask(client)).toMatchObject(failure('timeout'));
    expect(await ask(client, { signal: AbortSignal.abort() })).toMatchObject(failure('aborted'));
  });

  test('retries once in a new session if the server has forgotten its own', async ({ server }) => {
    const client = createClient(server.options);
    await ask(client);
    server.forgetSessions();
    expect(await ask(client)).toMatchObject({ valid: true });
    expect(server.count(name)).toBe(3);
    expect(server.count('sessionInit')).toBe(2);
  });

  test('sends the device if given, and no omitted member', async ({ server }) => {
    const client = createClient(server.options);
    await ask(client);
    await ask(client, { hwid });
    const [without, withDevice] = server.seen.filter(({ path }) => path === clientPaths[name]);
    expect(without?.inner).not.toHaveProperty('hwid');
    expect(withDevice?.inner).toMatchObject({ hwid, echoNonce: true, v: 1 });
  });
});

test('each verb sends only its own members', async ({ server }) => {
  const client = createClient(server.options);
  const email = 'ada@example.com';
  await client.register({ username, password, email, licenseKey, hwid });
  await client.login({ username, password, hwid });
  await client.upgrade({ username, licenseKey, hwid });
  const [, registered, loggedIn, upgraded] = server.seen.map(({ inner }) => inner);
  const { nonce, timestamp, v, echoNonce, echoRequest, call, ...sent } = innerRegisterRequest
    .strict()
    .parse(registered);
  expect(call).toBe('register');
  expect(sent).toEqual({ username, password, email, licenseKey, hwid });
  expect(innerLoginRequest.strict().parse(loggedIn)).toMatchObject({ username, password, hwid });
  expect(innerUpgradeRequest.strict().parse(upgraded)).toMatchObject({ username, licenseKey, hwid });
});

test('the verbs and validate share one session', async ({ server }) => {
  const client = createClient(server.options);
  await Promise.all([...verbs.map(([, ask]) => ask(client)), client.validate(licenseKey)]);
  expect(server.count('sessionInit')).toBe(1);
});
