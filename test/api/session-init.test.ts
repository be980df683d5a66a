import {
  createCipheriv,
  createPublicKey,
  hkdfSync,
  verify as nodeVerify,
  randomBytes,
  randomUUID,
} from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { decodeBase64 } from '../../src/protocol/base64.ts';
import { sessionInitResponse, sessionInitSignedPart } from '../../src/protocol/messages.ts';
import { verifySignatureB64 } from '../../src/protocol/signature.ts';
import { type ApiAnswer, ApiClient, type ApiClientOptions } from '../setup/api-client.ts';
import { expectRefusal } from '../setup/refusal.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { databaseState, insertBan, storedLog } from '../setup/stored.ts';
import { useWorld } from '../setup/use-world.ts';
import { createWorld, type SeededApplication } from '../setup/world.ts';

const { server, world } = useWorld();

const path = '/api/v1/session/init';
const nonceB64 = (bytes = 32) => randomBytes(bytes).toString('base64');
const visitor = (options: ApiClientOptions = {}) => new ApiClient(server.baseUrl, options);

interface App {
  readonly id: string;
  readonly version: string;
}

const request = (application: App, members: Record<string, unknown> = {}) => ({
  appId: application.id,
  clientNonceB64: nonceB64(),
  clientVersion: application.version,
  ...members,
});

const init = (application: App, members: Record<string, unknown> = {}, client = visitor()) =>
  client.post(path, request(application, members));

const accepted = (answer: ApiAnswer) => {
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return sessionInitResponse.parse(answer.body);
};

/** A raw Ed25519 public key as a key of node:crypto (RFC 8410 §4). */
const nativePublicKey = (publicKeyB64: string) =>
  createPublicKey({
    key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(publicKeyB64, 'base64')]),
    format: 'der',
    type: 'spki',
  });

describe('a session', () => {
  test('is returned with exactly the documented fields', async () => {
    const application = await world.createApplication();
    const answer = await init(application);
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body as object).sort()).toEqual([
      'hkdfSaltB64',
      'serverNonceB64',
      'sessionId',
      'signatureB64',
      'success',
      'timestamp',
      'v',
    ]);
    const body = accepted(answer);
    expect(body).toMatchObject({ success: true, v: 1 });
    expect(decodeBase64(body.serverNonceB64)).toHaveLength(32);
    expect(decodeBase64(body.hkdfSaltB64)).toHaveLength(32);
    expect(decodeBase64(body.signatureB64)).toHaveLength(64);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test("has the server's time in whole seconds", async () => {
    const application = await world.createApplication();
    server.clock.hold();
    try {
      const { timestamp } = accepted(await init(application));
      expect(timestamp).toBe(Math.floor(server.clock.now() / 1000));
    } finally {
      server.clock.release();
    }
  });

  test('has a signature over exactly six members, verified with two libraries', async () => {
    const application = await world.createApplication();
    const body = accepted(await init(application));
    const publicKey = decodeBase64(application.publicKeyB64);
    if (publicKey === null) throw new Error('the public key is no base64');
    const part = sessionInitSignedPart(application.id, body);
    expect(verifySignatureB64(body.signatureB64, part, publicKey)).toBe(true);

    // Written by hand: the members in the order of canonical JSON, all in ASCII.
    const { hkdfSaltB64, serverNonceB64, sessionId, timestamp, v } = body;
    const canonical = JSON.stringify({
      appId: application.id,
      hkdfSaltB64,
      serverNonceB64,
      sessionId,
      timestamp,
      v,
    });
    const key = nativePublicKey(application.publicKeyB64);
    const signature = Buffer.from(body.signatureB64, 'base64');
    expect(nodeVerify(null, Buffer.from(canonical), key, signature)).toBe(true);

    const changed = [
      { ...part, appId: randomUUID() },
      { ...part, hkdfSaltB64: nonceB64() },
      { ...part, serverNonceB64: nonceB64() },
      { ...part, sessionId: `${part.sessionId}A` },
      { ...part, timestamp: part.timestamp + 1 },
    ];
    for (const value of changed) expect(verifySignatureB64(body.signatureB64, value, publicKey)).toBe(false);
  });

  test('is signed with the key of its own application', async () => {
    const application = await world.createApplication();
    const other = await world.createApplication();
    const body = accepted(await init(application));
    const publicKey = decodeBase64(other.publicKeyB64);
    if (publicKey === null) throw new Error('the public key is no base64');
    expect(
      verifySignatureB64(body.signatureB64, sessionInitSignedPart(application.id, body), publicKey),
    ).toBe(false);
  });

  test('has the key that HKDF of node:crypto derives from the documented inputs', async () => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    const client = visitor();
    const clientNonce = randomBytes(32);
    const body = accepted(
      await init(application, { clientNonceB64: clientNonce.toString('base64') }, client),
    );
    const sessionKey = hkdfSync(
      'sha256',
      Buffer.concat([clientNonce, Buffer.from(body.serverNonceB64, 'base64')]),
      Buffer.from(body.hkdfSaltB64, 'base64'),
      `service-session-v1${application.id}`,
      32,
    );
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', new Uint8Array(sessionKey), iv);
    const inner = { licenseKey, nonce: nonceB64(16), timestamp: body.timestamp, v: 1 };
    const ciphertext = Buffer.concat([cipher.update(JSON.stringify(inner)), cipher.final()]);
    const answer = await client.post(validatePath, {
      sessionId: body.sessionId,
      ivB64: iv.toString('base64'),
      ciphertextB64: ciphertext.toString('base64'),
      tagB64: cipher.getAuthTag().toString('base64'),
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  });

  test('is new each time, even for the same client nonce', async () => {
    const application = await world.createApplication();
    const clientNonceB64 = nonceB64();
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => accepted(await init(application, { clientNonceB64 }))),
    );
    for (const member of ['sessionId', 'serverNonceB64', 'hkdfSaltB64', 'signatureB64'] as const) {
      expect(new Set(answers.map((answer) => answer[member])).size).toBe(10);
    }
  });

  test('stores nothing in the database', async () => {
    const application = await world.createApplication();
    const before = await databaseState(server);
    accepted(await init(application));
    expect(await databaseState(server)).toEqual(before);
  });

  test('is opened with any content type, and with unknown members', async () => {
    const application = await world.createApplication();
    const typed = visitor({ headers: { 'Content-Type': 'text/plain' } });
    accepted(await init(application, {}, typed));
    accepted(await init(application, { platform: 'win32', success: false }));
  });
});

describe('the application', () => {
  test('that does not exist is APP_NOT_FOUND', async () => {
    expectRefusal(await init({ id: randomUUID(), version: '1.0.0' }), 404, 'APP_NOT_FOUND');
  });

  test('that was deleted is APP_NOT_FOUND, although it was found before', async () => {
    const application = await world.createApplication();
    accepted(await init(application));
    const deleted = await world.client.delete(`/api/v1/apps/${application.id}`);
    expect(deleted.status).toBe(200);
    expectRefusal(await init(application), 404, 'APP_NOT_FOUND');
  });

  test('that is disabled is APP_DISABLED until it is enabled', async () => {
    const application = await world.createApplication();
    accepted(await init(application));
    await application.settings({ status: 'disabled' });
    expectRefusal(await init(application), 403, 'APP_DISABLED');
    await application.settings({ status: 'active' });
    accepted(await init(application));
  });

  test('of another version is APP_OUTDATED, however similar the version is', async () => {
    const application = await world.createApplication({ version: '1.10.0-beta' });
    for (const clientVersion of [
      '1.10.0',
      '1.10.0-Beta',
      ' 1.10.0-beta',
      '1.10.0-beta ',
      '1.10.00-beta',
      '9',
    ]) {
      expectRefusal(await init(application, { clientVersion }), 403, 'APP_OUTDATED');
    }
    accepted(await init(application));
  });

  test('compares versions exactly in any script', async () => {
    const application = await world.createApplication({ version: 'é-二' });
    accepted(await init(application));
    expectRefusal(await init(application, { clientVersion: 'e\u0301-二' }), 403, 'APP_OUTDATED');
  });

  test('applies a version change at once', async () => {
    const application = await world.createApplication();
    accepted(await init(application));
    await application.settings({ version: '2.0.0' });
    expectRefusal(await init(application), 403, 'APP_OUTDATED');
    accepted(await init(application, { clientVersion: '2.0.0' }));
  });
});

describe('a banned address', () => {
  test('is IP_BANNED only at this application; other addresses are served', async () => {
    const application = await world.createApplication();
    const other = await world.createApplication();
    const client = visitor();
    await insertBan(server, application.id, 'ip', client.ip);
    expectRefusal(await init(application, {}, client), 403, 'IP_BANNED');
    accepted(await init(other, {}, client));
    accepted(await init(application));
  });

  test('is refused from the response to the ban on, although it was served before', async () => {
    const application = await world.createApplication();
    const { id } = await application.mintOne();
    const client = visitor();
    accepted(await init(application, {}, client));
    const banned = await world.client.post(`/api/v1/licenses/${id}/ban`, {
      scope: 'hwid_and_ip',
      ip: client.ip,
    });
    expect(banned.status, JSON.stringify(banned.body)).toBe(200);
    expectRefusal(await init(application, {}, client), 403, 'IP_BANNED');
  });

  test('is the same address in any notation', async () => {
    const application = await world.createApplication();
    await insertBan(server, application.id, 'ip', '10.1.2.3');
    await insertBan(server, application.id, 'ip', '2001:db8::7');
    for (const ip of ['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::7', '2001:DB8:0:0:0:0:0:7']) {
      expectRefusal(await init(application, {}, visitor({ ip })), 403, 'IP_BANNED');
    }
  });
});

test('refusals come in the order APP_NOT_FOUND, APP_DISABLED, APP_OUTDATED, IP_BANNED', async () => {
  const application = await world.createApplication();
  const client = visitor();
  await insertBan(server, application.id, 'ip', client.ip);
  await application.settings({ status: 'disabled' });
  const outdated = { clientVersion: '0.9' };
  expectRefusal(await init(application, outdated, client), 403, 'APP_DISABLED');
  await application.settings({ status: 'active' });
  expectRefusal(await init(application, outdated, client), 403, 'APP_OUTDATED');
  expectRefusal(await init(application, {}, client), 403, 'IP_BANNED');
});

test("each refusal has the developer's message, or the default", async () => {
  const application = await world.createApplication();
  const client = visitor();
  await insertBan(server, application.id, 'ip', client.ip);
  const refusals: Record<string, () => Promise<ApiAnswer>> = {
    APP_OUTDATED: () => init(application, { clientVersion: '0.9' }),
    IP_BANNED: () => init(application, {}, client),
    APP_DISABLED: async () => {
      await application.settings({ status: 'disabled' });
      return init(application);
    },
  };
  for (const [code, ask] of Object.entries(refusals)) {
    const standard = expectRefusal(await ask(), 403, code);
    const text = `${code}: schreiben Sie an hilfe@example.com — 助けて 🗝`;
    expect(standard).not.toBe(text);
    await application.settings({ responseMessages: { [code]: text } });
    expect(expectRefusal(await ask(), 403, code)).toBe(text);
  }
});

describe('the log', () => {
  test('has refusals with code, address and version, and no accepted sessions', async () => {
    const application = await world.createApplication();
    const client = visitor();
    accepted(await init(application, {}, client));
    expectRefusal(await init(application, { clientVersion: '0.9' }, client), 403, 'APP_OUTDATED');
    expect(await storedLog(server, application.id, 'session_refused')).toEqual([
      {
        event: 'session_refused',
        code: 'APP_OUTDATED',
        licenseId: null,
        ip: client.ip,
        hwid: null,
        metadata: { clientVersion: '0.9' },
      },
    ]);
  });
});

describe('a malformed request', () => {
  const malformed: Record<string, (application: SeededApplication) => unknown> = {
    'text that is no JSON': () => '{"appId":',
    'an empty body': () => '',
    'an array': (application) => [request(application)],
    null: () => null,
    'an empty object': () => ({}),
    'no appId': (application) => request(application, { appId: undefined }),
    'an appId that is no UUID': (application) => request(application, { appId: 'photo-lab' }),
    'an appId in upper case': (application) => request(application, { appId: application.id.toUpperCase() }),
    'an appId in braces': (application) => request(application, { appId: `{${application.id}}` }),
    'an appId that is no text': (application) => request(application, { appId: 7 }),
    'no nonce': (application) => request(application, { clientNonceB64: undefined }),
    'a nonce of 31 bytes': (application) => request(application, { clientNonceB64: nonceB64(31) }),
    'a nonce of 33 bytes': (application) => request(application, { clientNonceB64: nonceB64(33) }),
    'a nonce without padding': (application) =>
      request(application, { clientNonceB64: nonceB64().replace('=', '') }),
    'a nonce of the URL-safe alphabet': (application) =>
      request(application, { clientNonceB64: `${'_'.repeat(42)}8=` }),
    'a nonce with white space': (application) => request(application, { clientNonceB64: ` ${nonceB64()}` }),
    'a nonce whose trailing bits are set': (application) =>
      request(application, { clientNonceB64: `${'A'.repeat(42)}B=` }),
    'no version': (application) => request(application, { clientVersion: undefined }),
    'an empty version': (application) => request(application, { clientVersion: '' }),
    'a version of 65 characters': (application) => request(application, { clientVersion: '1'.repeat(65) }),
    'a version with NUL': (application) => request(application, { clientVersion: '1.0.0\0' }),
    'a version with a lone surrogate': (application) =>
      request(application, { clientVersion: '1.0.0\ud800' }),
    'a version that is a number': (application) => request(application, { clientVersion: 1 }),
  };

  test.each(Object.entries(malformed))('with %s is VALIDATION_FAILED', async (_what, body) => {
    const application = await world.createApplication();
    expectRefusal(await visitor().post(path, body(application)), 400, 'VALIDATION_FAILED');
  });

  test('of more than 64 KiB is PAYLOAD_TOO_LARGE', async () => {
    const application = await world.createApplication();
    const answer = await init(application, { more: 'x'.repeat(64 * 1024) });
    expectRefusal(answer, 413, 'PAYLOAD_TOO_LARGE');
  });
});

describe('the limit', () => {
  test('is 60 a minute per address, including refusals, and does not affect other addresses', async () => {
    const application = await world.createApplication();
    const client = visitor();
    const answers: ApiAnswer[] = [];
    for (let sent = 0; sent < 59; sent++) answers.push(await client.post(path, {}));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
    const last = await init(application, {}, client);
    accepted(last);
    expect(last.headers.get('ratelimit-limit')).toBe('60');
    expect(last.headers.get('ratelimit-remaining')).toBe('0');
    const over = await init(application, {}, client);
    expectRefusal(over, 429, 'RATE_LIMITED');
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(over.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    accepted(await init(application));
  });

  test('admits exactly 60 of 90 concurrent requests', async () => {
    const application = await world.createApplication();
    const client = visitor();
    const answers = await Promise.all(Array.from({ length: 90 }, () => init(application, {}, client)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
  });

  test('counts an IPv6 /64 network as one address', async () => {
    const application = await world.createApplication();
    const net = `2001:db8:${randomBytes(2).readUInt16BE().toString(16)}:1`;
    const answers = await Promise.all(
      Array.from({ length: 70 }, (_, host) =>
        init(application, {}, visitor({ ip: `${net}:${host.toString(16)}::1` })),
      ),
    );
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(10);
    accepted(await init(application, {}, visitor({ ip: `${net.slice(0, -1)}2::1` })));
  });

  test('is separate from that of validate', async () => {
    const application = await world.createApplication();
    const client = visitor();
    const session = await openSession(server, application, { client });
    for (let sent = 0; sent < 70; sent++) await session.ask(validatePath, { licenseKey: 'no such key' });
    accepted(await init(application, {}, client));
  });
});

test('a handshake body that is not UTF-8 is refused, not repaired', async () => {
  const world = await createWorld(server);
  const application = await world.createApplication({ version: '\uFFFD' });
  const body = JSON.stringify({
    appId: application.id,
    clientNonceB64: Buffer.alloc(32).toString('base64'),
    clientVersion: '#',
  });
  const bytes = Buffer.from(body, 'latin1');
  bytes[bytes.indexOf('"#"') + 1] = 0xff;
  const response = await fetch(`${server.baseUrl}/api/v1/session/init`, { method: 'POST', body: bytes });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: 'VALIDATION_FAILED' });
});
