import { describe, expect } from 'vitest';
import { verdictCodes } from '../../../src/protocol/messages.ts';
import { type Client, type ClientAuthOutcome, createClient } from '../../../src/sdk/index.ts';
import { test } from './fixture.ts';
import { appId, licenseId, type StandIn } from './stand-in.ts';

const licenseKey = 'QW7RT-9XKLM-2VBNP-HJ4DF-6SGC8';
const hwid = 'device-1';
const username = 'ada';
const password = 'correct horse';
const refusals = [...verdictCodes.filter((code) => code !== 'OK'), 'OF_THE_FUTURE'];

describe('validate', () => {
  test('returns a signed OK as valid, with the details of the license', async ({ server }) => {
    expect(await createClient(server.options).validate(licenseKey, { hwid })).toEqual({
      kind: 'verdict',
      valid: true,
      code: 'OK',
      message: 'License is valid.',
      status: 'active',
      expiresAt: new Date('2030-01-01T00:00:00.000Z'),
      subscriptionTier: 3,
      graceEndsAt: null,
      entitlements: { seats: 5, 'export.pdf': true, edition: 'pro' },
      metadata: {},
      source: 'service',
    });
  });

  test('returns no date for a license that never expires', async ({ server }) => {
    server.onCall = ({ sealed, answer }) => sealed({ ...answer, expiresAt: null });
    expect(await createClient(server.options).validate(licenseKey)).toMatchObject({ expiresAt: null });
  });

  test('returns every signed refusal as invalid, including unknown codes', async ({ server }) => {
    const client = createClient(server.options);
    for (const code of refusals) {
      server.onCall = ({ refused }) => refused(code, { message: 'Nö', licenseId });
      const refusal = { kind: 'verdict', valid: false, code, message: 'Nö', source: 'service' };
      expect(await client.validate(licenseKey)).toEqual(refusal);
    }
  });

  test('gets a signed refusal for members that no request can carry', async ({ server }) => {
    const validate = createClient(server.options).validate as (...given: unknown[]) => Promise<unknown>;
    for (const malformed of ['', 'a\0b', 'a\ud800', 'x'.repeat(20_000), 0.1, null, { a: [1.5] }]) {
      expect(await validate(malformed)).toMatchObject({ valid: false, code: 'VALIDATION_FAILED' });
    }
    expect(await validate(licenseKey, { hwid: 'a\0' })).toMatchObject({ code: 'VALIDATION_FAILED' });
  });
});

type Ask = (client: Client, more?: { hwid?: string }) => Promise<ClientAuthOutcome>;
const verbs: [name: 'register' | 'login' | 'upgrade', ask: Ask][] = [
  ['register', (client, more) => client.register({ username, password, ...more })],
  ['login', (client, more) => client.login({ username, password, ...more })],
  ['upgrade', (client, more) => client.upgrade({ username, licenseKey, ...more })],
];

describe.for(verbs)('%s', ([name, ask]) => {
  test('returns the user, the token, the license and the session', async ({ server }) => {
    expect(await ask(createClient(server.options), { hwid })).toEqual({
      kind: 'verdict',
      valid: true,
      code: 'OK',
      message: 'License is valid.',
      source: 'service',
      sessionToken: 'an-opaque-token',
      expiresAt: new Date('2030-01-08T00:00:00.000Z'),
      user: { id: '01890a5d-ac96-774b-bcce-b302099a8058', username, email: null, applicationId: appId },
      license: {
        id: licenseId,
        status: 'active',
        expiresAt: new Date('2030-01-01T00:00:00.000Z'),
        subscriptionTier: 3,
        graceEndsAt: null,
        entitlements: {},
        metadata: {},
      },
      session: { ip: '192.0.2.1', hwid: null },
    });
    expect(server.calls[0]?.request).toMatchObject({ call: name, username, hwid });
  });

  test('returns every signed refusal as invalid', async ({ server }) => {
    const client = createClient(server.options);
    for (const code of refusals) {
      server.onCall = ({ refused }) => refused(code);
      expect(await ask(client)).toMatchObject({ kind: 'verdict', valid: false, code, source: 'service' });
    }
  });

  test('trusts no answer without the members of its result', async ({ server }) => {
    for (const missing of ['sessionToken', 'expiresAt', 'user', 'license', 'session']) {
      server.onCall = ({ sealed, answer: { [missing]: _, ...rest } }) => sealed(rest);
      const outcome = await ask(createClient(server.options));
      expect(outcome, missing).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
    }
  });
});

describe('a request', () => {
  const ask = async (server: StandIn, count: number) => {
    const client = createClient(server.options);
    for (let turn = 0; turn < count; turn += 1) await client.validate(licenseKey, { hwid });
    return server.calls;
  };

  test('has the head of version 2, the members, and nothing else', async ({ server }) => {
    const [first] = await ask(server, 1);
    expect(first?.request).toEqual({
      v: 2,
      call: 'validate',
      app: appId,
      version: '1.0.0',
      time: Math.floor(server.clock / 1000),
      licenseKey,
      hwid,
    });
  });

  test('asks for the key only once, and needs one round trip afterwards', async ({ server }) => {
    expect(await ask(server, 3)).toHaveLength(3);
    expect(server.keysAsked).toBe(1);
  });

  test('has a fresh ephemeral key, and a length that tells little', async ({ server }) => {
    const bodies = (await ask(server, 3)).map(({ body }) => Buffer.from(body));
    expect(new Set(bodies.map((body) => body.subarray(7, 39).toString('hex'))).size).toBe(3);
    for (const body of bodies) expect((body.length - 7 - 32 - 16) % 256).toBe(0);
    expect(bodies[0]?.includes(licenseKey)).toBe(false);
  });
});

test('version 2 is the default, and never falls back to version 1', async ({ server }) => {
  const paths: string[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    paths.push(new URL(String(url)).pathname);
    return globalThis.fetch(url, init);
  };
  server.onKeys = () => ({ status: 404, body: 'this service speaks version 1' });
  const client = createClient({ ...server.options, fetch });
  expect(await client.validate(licenseKey)).toMatchObject({ kind: 'failure' });
  expect(await client.login({ username, password })).toMatchObject({ kind: 'failure' });
  expect(paths).toEqual([`/api/v2/keys/${appId}`, `/api/v2/keys/${appId}`]);
});
