import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { generateX25519 } from '../../src/crypto/x25519.ts';
import { concatBytes, utf8 } from '../../src/protocol/bytes.ts';
import { readStatement } from '../../src/protocol/v2/key-statement.ts';
import { ApiClient } from '../setup/api-client.ts';
import { createCallClient } from '../setup/call-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer } from '../setup/server.ts';
import { insertBan, storedLog } from '../setup/stored.ts';
import { useWorld } from '../setup/use-world.ts';
import { createWorld, type SeededApplication } from '../setup/world.ts';

// Protocol version 2 over HTTP, each step made by hand.

const { server, world } = useWorld();

const password = 'a long password';
const clientOf = (application: SeededApplication) => createCallClient(server, application);
const bytesOf = (publicKeyB64: string) => new Uint8Array(Buffer.from(publicKeyB64, 'base64'));
const nobody = new Uint8Array(32);

describe('the key statement', () => {
  test('is 121 bytes, signed for its application, and no other', async () => {
    const [one, other] = [await world.createApplication(), await world.createApplication()];
    const statement = await clientOf(one).statement();
    expect(statement).toHaveLength(121);
    expect(readStatement(statement, one.id, bytesOf(one.publicKeyB64))).not.toBeNull();
    expect(readStatement(statement, other.id, bytesOf(one.publicKeyB64))).toBeNull();
    expect(readStatement(statement, one.id, bytesOf(other.publicKeyB64))).toBeNull();
  });

  test('announces the same key to the clients of every application, for three days', async () => {
    const one = await clientOf(await world.createApplication()).key();
    const other = await clientOf(await world.createApplication()).key();
    expect(other).toEqual(one);
    expect(one.notAfter - one.notBefore).toBe(72 * 3_600);
  });

  test('may be stored, is revalidated, and is open to every origin', async () => {
    const { id } = await world.createApplication();
    // Without an Origin, as a cache may ask that then serves pages.
    const ask = (headers: Record<string, string> = {}) =>
      fetch(`${server.baseUrl}/api/v2/keys/${id}`, { headers });
    const first = await ask();
    expect(first.headers.get('content-type')).toBe('application/vnd.latchkey.v2-key');
    expect(first.headers.get('cache-control')).toBe('public, no-cache');
    expect(first.headers.get('access-control-allow-origin')).toBe('*');
    const again = await ask({ 'if-none-match': first.headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
    expect(again.headers.get('access-control-allow-origin')).toBe('*');
    expect((await ask({ 'if-none-match': '"another"' })).status).toBe(200);
  });

  test.each([
    ['an unknown application', randomUUID()],
    ['what is no id', 'abc'],
    ['an id in capitals', randomUUID().toUpperCase()],
  ])('does not exist for %s', async (_name, id) => {
    const answer = await new ApiClient(server.baseUrl).get(`/api/v2/keys/${id}`);
    expect(answer).toMatchObject({ status: 404, body: { success: false, code: 'APP_NOT_FOUND' } });
  });
});

describe('validate', () => {
  test('says that a license is valid, and binds its device', async () => {
    const application = await world.createApplication();
    const { licenseKey, id } = await application.mintOne({ durationSeconds: 3_600, subscriptionTier: 3 });
    const client = clientOf(application);
    const answer = await client.ask('validate', { licenseKey, hwid: 'one' });
    expect(answer).toEqual({
      v: 2,
      call: 'validate',
      time: expect.any(Number),
      success: true,
      code: 'OK',
      message: 'License is valid.',
      status: 'active',
      expiresAt: expect.any(String),
      subscriptionTier: 3,
      licenseId: id,
    });
    expect(await client.ask('validate', { licenseKey, hwid: 'two' })).toMatchObject({
      success: false,
      code: 'HWID_MISMATCH',
      status: null,
      expiresAt: null,
      licenseId: id,
    });
  });

  test("does not name another application's license", async () => {
    const { licenseKey } = await (await world.createApplication()).mintOne();
    const answer = await clientOf(await world.createApplication()).ask('validate', { licenseKey });
    expect(answer).toMatchObject({ success: false, code: 'APP_MISMATCH' });
    expect(answer).not.toHaveProperty('licenseId');
  });
});

describe('register, login and upgrade', () => {
  test('give a session, with the members of version 1', async () => {
    const application = await world.createApplication();
    const { licenseKey, id } = await application.mintOne();
    const client = clientOf(application);
    const registered = await client.ask('register', { username: 'ada', password, licenseKey, hwid: 'one' });
    expect(registered).toMatchObject({
      call: 'register',
      success: true,
      code: 'OK',
      sessionToken: expect.any(String),
      user: { username: 'ada', email: null, applicationId: application.id },
      license: { id, status: 'active' },
      session: { hwid: 'one' },
    });
    expect(await client.ask('login', { username: 'ada', password })).toMatchObject({ code: 'OK' });
    expect(await client.ask('login', { username: 'ada', password: 'wrong password' })).toMatchObject({
      success: false,
      code: 'INVALID_CREDENTIALS',
    });
    const better = await application.mintOne({ subscriptionTier: 2 });
    const upgraded = await client.ask('upgrade', { username: 'ada', licenseKey: better.licenseKey });
    expect(upgraded).toMatchObject({ code: 'OK', license: { id: better.id, subscriptionTier: 2 } });
  });

  test('are limited together with those of version 1, and the refusal is signed', async () => {
    const limited = await startTestServer({ env: { RATE_LIMITS: 'clientAuth=2' } });
    try {
      const application = await (await createWorld(limited)).createApplication();
      const client = createCallClient(limited, application);
      const login = () => client.ask('login', { username: 'ada', password });
      expect(await login()).toMatchObject({ code: 'INVALID_CREDENTIALS' });
      expect(await login()).toMatchObject({ code: 'INVALID_CREDENTIALS' });
      const sent = await client.seal(client.plaintext('login', { username: 'ada', password }));
      const response = await client.post(sent.body);
      expect(client.open(sent, response)).toMatchObject({ success: false, code: 'RATE_LIMITED' });
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await client.ask('validate', { licenseKey: 'X' })).toMatchObject({ code: 'LICENSE_NOT_FOUND' });
    } finally {
      await limited.close();
    }
  });
});

test('every verdict leaves the log entry that version 1 leaves', async () => {
  const entries = async (
    ask: (application: SeededApplication, key: string, members: object) => Promise<unknown>,
  ) => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    await ask(application, 'validate', { licenseKey, hwid: 'one' });
    await ask(application, 'validate', { licenseKey, hwid: 'two' });
    await ask(application, 'validate', { licenseKey: 'unknown' });
    await ask(application, 'register', { username: 'ada', password, licenseKey, hwid: 'one' });
    await ask(application, 'login', { username: 'ada', password: 'wrong password' });
    await ask(application, 'upgrade', { username: 'ada', licenseKey, hwid: 'one' });
    const events = ['license_validated', 'user_registered', 'user_logged_in', 'user_upgraded'];
    const logs = await Promise.all(events.map((event) => storedLog(server, application.id, event)));
    return logs.flat().map(({ event, code, hwid, metadata }) => ({ event, code, hwid, metadata }));
  };
  const paths: Record<string, string> = {
    validate: validatePath,
    register: '/api/v1/client/register',
    login: '/api/v1/client/login',
    upgrade: '/api/v1/client/upgrade',
  };
  const version1 = await entries(async (application, call, members) => {
    const session = await openSession(server, application);
    return session.ask(paths[call] ?? '', { ...members });
  });
  const version2 = await entries((application, call, members) =>
    clientOf(application).ask(call, { ...members }),
  );
  expect(version1).toHaveLength(6);
  expect(version2).toEqual(version1);
});

describe('what cannot be opened is refused without a signature', () => {
  test.each([
    ['an empty body', new Uint8Array()],
    ['54 bytes', new Uint8Array(54)],
    ['16,385 bytes', new Uint8Array(16_385)],
  ])('%s is MALFORMED', async (_name, body) => {
    const client = clientOf(await world.createApplication());
    expect(await client.post(body)).toMatchObject({
      status: 400,
      error: { success: false, code: 'MALFORMED' },
    });
  });

  test('every other damage is KEY_UNKNOWN, and no cause is told from another', async () => {
    const client = clientOf(await world.createApplication());
    const { body } = await client.seal(client.plaintext('validate', { licenseKey: 'X' }));
    const damaged = [
      ...[0, 1, 2, 3, 4, 5, 6, 7, 38, 39, 100, body.length - 1].map((index) => {
        const changed = Uint8Array.from(body);
        changed[index] = (changed[index] ?? 0) ^ 1;
        return changed;
      }),
      body.subarray(0, -1),
      concatBytes(body, Uint8Array.of(0)),
      concatBytes(body.subarray(0, 7), nobody, body.subarray(39)),
      body.subarray(0, 55),
    ];
    const errors = await Promise.all(damaged.map(async (each) => (await client.post(each)).error));
    for (const error of errors) expect(error).toEqual(errors[0]);
    expect(errors[0]).toMatchObject({ success: false, code: 'KEY_UNKNOWN' });
  });

  test.each([
    ['not JSON', 'hello'],
    ['a repeated name', '{"app":"x","app":"y"}'],
    ['no object', '[]'],
    ['a byte order mark', '\ufeff{}'],
  ])('a plaintext with %s is APP_NOT_FOUND', async (_name, plaintext) => {
    const client = clientOf(await world.createApplication());
    const sent = await client.seal(plaintext);
    expect(await client.post(sent.body)).toMatchObject({ status: 404, error: { code: 'APP_NOT_FOUND' } });
  });

  test('so are an unknown application and invalid UTF-8', async () => {
    const client = clientOf(await world.createApplication());
    for (const plaintext of [
      { ...client.plaintext('validate'), app: randomUUID() },
      concatBytes(utf8('{"app":"'), Uint8Array.of(0xc0, 0x80), utf8('"}')),
    ]) {
      const sent = await client.seal(plaintext);
      expect(await client.post(sent.body)).toMatchObject({ status: 404, error: { code: 'APP_NOT_FOUND' } });
    }
  });
});

describe('once the application is known, every answer is signed', () => {
  test.each([
    ['another version of the protocol', { v: 1 }],
    ['no call', { call: undefined }],
    ['an empty call', { call: '' }],
    ['a call that is no text', { call: 5 }],
    ['no version', { version: undefined }],
    ['no time', { time: undefined }],
    ['a time in words', { time: 'now' }],
    ['a negative time', { time: -1 }],
    ['an unknown call', { call: 'devices.destroy' }],
    ['a call of another kind of object', { call: 'constructor' }],
    ['no license key', { licenseKey: undefined }],
    ['a license key that is no text', { licenseKey: 5 }],
  ])('%s is VALIDATION_FAILED', async (_name, members) => {
    const client = clientOf(await world.createApplication());
    const sent = await client.seal({ ...client.plaintext('validate', { licenseKey: 'X' }), ...members });
    const answer = client.open(sent, await client.post(sent.body));
    expect(answer).toMatchObject({ v: 2, success: false, code: 'VALIDATION_FAILED' });
    const { call } = { call: 'validate', ...members };
    if (typeof call === 'string' && call !== '') expect(answer).toHaveProperty('call', call);
    else expect(answer).not.toHaveProperty('call');
  });

  test.each([-61, 61])(
    'a time that is %i seconds off is CLOCK_SKEW, with the service’s time',
    async (off) => {
      server.clock.hold();
      try {
        const client = clientOf(await world.createApplication());
        const time = Math.floor(server.clock.now() / 1000);
        const skewed = await client.ask('validate', { licenseKey: 'X', time: time + off });
        expect(skewed).toMatchObject({ success: false, code: 'CLOCK_SKEW', time });
        const late = await client.ask('validate', { licenseKey: 'X', time: time + off - Math.sign(off) });
        expect(late).toMatchObject({ code: 'LICENSE_NOT_FOUND' });
      } finally {
        server.clock.release();
      }
    },
  );

  test('a repeated request is REPLAY, however often and concurrently it is sent', async () => {
    const client = clientOf(await world.createApplication());
    const sent = await client.seal(client.plaintext('validate', { licenseKey: 'X' }));
    const answers = await Promise.all(
      Array.from({ length: 8 }, async () => client.open(sent, await client.post(sent.body)).code),
    );
    expect(answers.sort()).toEqual(['LICENSE_NOT_FOUND', ...Array<string>(7).fill('REPLAY')]);
  });

  test('another request under the same ephemeral key is REPLAY too', async () => {
    const client = clientOf(await world.createApplication());
    const ephemeral = generateX25519();
    const ask = async (licenseKey: string) => {
      const sent = await client.seal(client.plaintext('validate', { licenseKey }), { ephemeral });
      return client.open(sent, await client.post(sent.body)).code;
    };
    expect(await ask('X')).toBe('LICENSE_NOT_FOUND');
    expect(await ask('Y')).toBe('REPLAY');
  });

  test('a request that is refused for its clock is not remembered', async () => {
    const client = clientOf(await world.createApplication());
    const ephemeral = generateX25519();
    const ask = async (time: number) => {
      const sent = await client.seal(client.plaintext('validate', { licenseKey: 'X', time }), { ephemeral });
      return client.open(sent, await client.post(sent.body)).code;
    };
    expect(await ask(5)).toBe('CLOCK_SKEW');
    expect(await ask(Math.floor(server.clock.now() / 1000))).toBe('LICENSE_NOT_FOUND');
  });
});

test('an application’s refusals come before what is wrong with the members, in the order of version 1', async () => {
  const application = await world.createApplication({ version: '2.0' });
  const client = createCallClient(server, application, '198.51.100.77');
  const codes = async (members: Record<string, unknown>) => (await client.ask('validate', members)).code;
  await insertBan(server, application.id, 'hwid', 'one');
  expect(await codes({ hwid: 'one' })).toBe('HWID_BANNED');
  expect(await codes({ hwid: 'two' })).toBe('VALIDATION_FAILED');
  await insertBan(server, application.id, 'ip', '198.51.100.77');
  expect(await codes({ hwid: 'one' })).toBe('IP_BANNED');
  expect(await codes({ hwid: 'one', version: '1.0' })).toBe('APP_OUTDATED');
  await application.settings({ status: 'disabled' });
  expect(await codes({ hwid: 'one', version: '1.0' })).toBe('APP_DISABLED');
});

test('a client that the application refuses does not learn which license keys exist', async () => {
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  const client = clientOf(application);
  for (const [settings, code] of [
    [{ version: '2.0' }, 'APP_OUTDATED'],
    [{ status: 'disabled' }, 'APP_DISABLED'],
  ] as const) {
    await application.settings(settings);
    const known = await client.ask('validate', { licenseKey });
    const unknown = await client.ask('validate', { licenseKey: 'unknown' });
    expect(known).toMatchObject({ code });
    expect({ ...known, time: 0 }).toEqual({ ...unknown, time: 0 });
  }
});

test('without the memory of replays nothing is judged, and the answer that says so is signed', async () => {
  const own = await startTestServer();
  try {
    const application = await (await createWorld(own)).createApplication();
    const { licenseKey } = await application.mintOne();
    const client = createCallClient(own, application);
    const sent = await client.seal(client.plaintext('validate', { licenseKey }));
    await own.deps.services.store.close();
    const answer = client.open(sent, await client.post(sent.body));
    expect(answer).toMatchObject({ success: false, code: 'UNAVAILABLE' });
    expect(await storedLog(own, application.id, 'license_validated')).toEqual([]);
  } finally {
    await own.close();
  }
});

describe('the setting protocol', () => {
  test('v2_only refuses version 1 as outdated: new sessions, open ones, and no call of version 2', async () => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    await application.settings({ protocol: 'v2_only' });
    expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'APP_OUTDATED' });
    const handshake = await new ApiClient(server.baseUrl).post('/api/v1/session/init', {
      appId: application.id,
      clientNonceB64: Buffer.alloc(32).toString('base64'),
      clientVersion: application.version,
    });
    expect(handshake).toMatchObject({ status: 403, body: { code: 'APP_OUTDATED' } });
    expect(await clientOf(application).ask('validate', { licenseKey })).toMatchObject({ code: 'OK' });
    await application.settings({ protocol: 'any' });
    expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });
  });
});

describe('limits and headers', () => {
  test('junk takes points of validate, and is refused before it is decrypted', async () => {
    const limited = await startTestServer({ env: { RATE_LIMITS: 'validate=3' } });
    try {
      const application = await (await createWorld(limited)).createApplication();
      const client = createCallClient(limited, application);
      const junk = new Uint8Array(311);
      const statuses = [];
      for (let count = 0; count < 5; count += 1) statuses.push((await client.post(junk)).status);
      expect(statuses).toEqual([400, 400, 400, 429, 429]);
      const sent = await client.seal(client.plaintext('validate', { licenseKey: 'X' }));
      expect(await client.post(sent.body)).toMatchObject({ status: 429, error: { code: 'RATE_LIMITED' } });
    } finally {
      await limited.close();
    }
  });

  test('pages of every origin may call', async () => {
    const preflight = await fetch(`${server.baseUrl}/api/v2/call`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('Content-Type');
  });

  test('lengths of requests and answers are multiples of 256 bytes beside their fixed parts', async () => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    const client = clientOf(application);
    const sent = await client.seal(client.plaintext('validate', { licenseKey }));
    expect((sent.body.length - 55) % 256).toBe(0);
    const { bytes, headers } = await client.post(sent.body);
    expect((bytes.length - 32 - 16 - 64) % 256).toBe(0);
    expect(headers.get('content-type')).toBe('application/vnd.latchkey.v2-answer');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('answers to the same question have nothing in common', async () => {
    const client = clientOf(await world.createApplication());
    const digest = async () => {
      const sent = await client.seal(client.plaintext('validate', { licenseKey: 'X' }));
      return createHash('sha256')
        .update((await client.post(sent.body)).bytes)
        .digest('hex');
    };
    expect(await digest()).not.toBe(await digest());
  });
});
