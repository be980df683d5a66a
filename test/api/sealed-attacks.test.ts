import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from '../../src/protocol/base64.ts';
import { openEnvelope, sealEnvelope } from '../../src/protocol/envelope.ts';
import { verifyBytes } from '../../src/protocol/signature.ts';
import { hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { type ApiAnswer, ApiClient } from '../setup/api-client.ts';
import { expectRefusal } from '../setup/refusal.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { databaseState, storedLicense } from '../setup/stored.ts';
import { forFile, useWorld } from '../setup/use-world.ts';
import { createWorld, type SeededApplication } from '../setup/world.ts';

const { server, world } = useWorld();
const application = forFile(() => world.createApplication());

/** Sends a body from a separate address, so that no rate limit applies. */
const post = (body: unknown, baseUrl = server.baseUrl): Promise<ApiAnswer> =>
  new ApiClient(baseUrl).post(validatePath, body);

const nonceOf = (length: number) => encodeBase64(new Uint8Array(randomBytes(length)));
const unixSeconds = () => Math.floor(server.clock.now() / 1000);

/** A valid request in a new session about an unused license. */
async function goodRequest() {
  const { id, licenseKey } = await application.mintOne({ durationSeconds: 3600 });
  const session = await openSession(server, application);
  const inner = session.inner({ licenseKey, hwid: 'device' });
  return { id, licenseKey, session, inner, envelope: session.seal(inner) };
}

/** Sends requests that must be refused, and checks that the database does not change. */
async function changingNothing(work: () => Promise<void>): Promise<void> {
  const before = await databaseState(server);
  await work();
  expect(await databaseState(server)).toEqual(before);
}

/** Stops the clock, and restores it afterwards. */
async function withHeldClock(work: () => Promise<void>): Promise<void> {
  const before = server.clock.now();
  server.clock.hold();
  try {
    await work();
  } finally {
    server.clock.step((before - server.clock.now()) / 1000);
    server.clock.release();
  }
}

const flipped = (bytes: Uint8Array, index: number, bit = index % 8) =>
  bytes.map((byte, at) => (at === index ? byte ^ (1 << bit) : byte));
const bytesOf = (text: string, decode = decodeBase64) => decode(text) ?? expect.fail('not base64');

describe('a replay', () => {
  test('of an accepted envelope is REPLAY, from any address, and changes nothing', async () => {
    const { session, envelope } = await goodRequest();
    expect(session.open(await post(envelope))).toMatchObject({ code: 'OK' });
    await changingNothing(async () => {
      for (let sent = 0; sent < 3; sent++) expectRefusal(await post(envelope), 400, 'REPLAY');
    });
  });

  test('in 50 concurrent copies is accepted exactly once', async () => {
    const { session, envelope } = await goodRequest();
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(envelope)));
    const accepted = answers.filter(({ status }) => status === 200);
    expect(accepted).toHaveLength(1);
    for (const answer of accepted) expect(session.open(answer)).toMatchObject({ code: 'OK' });
    for (const answer of answers) if (answer.status !== 200) expectRefusal(answer, 400, 'REPLAY');
  });

  test('of a nonce is REPLAY even with a new IV, timestamp and body', async () => {
    const { session, inner, envelope } = await goodRequest();
    expect(session.open(await post(envelope))).toMatchObject({ code: 'OK' });
    const again = { ...inner, licenseKey: 'another', timestamp: unixSeconds() };
    await changingNothing(async () => {
      expectRefusal(await post(session.seal(again)), 400, 'REPLAY');
    });
  });

  test('of a nonce with other JSON escapes is REPLAY, because its bytes are the same', async () => {
    const { session, inner, envelope } = await goodRequest();
    expect(session.open(await post(envelope))).toMatchObject({ code: 'OK' });
    const escaped = [...String(inner.nonce)]
      .map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
    const text = JSON.stringify({ ...inner, nonce: '@' }).replace('@', escaped);
    expectRefusal(await post(session.seal(text)), 400, 'REPLAY');
  });

  test('of a nonce in another base64 encoding is refused as malformed', async () => {
    const { session, inner } = await goodRequest();
    // 16 bytes end with a character whose last four bits are unused, and two padding characters.
    const nonce = `${'A'.repeat(21)}A==`;
    expect(session.open(await post(session.seal({ ...inner, nonce })))).toMatchObject({ code: 'OK' });
    const spellings = [`${'A'.repeat(21)}B==`, 'A'.repeat(22), `${nonce}\n`, ` ${nonce}`, `${nonce}====`];
    await changingNothing(async () => {
      for (const spelling of spellings) {
        const answer = await post(session.seal({ ...inner, nonce: spelling }));
        expect(session.open(answer), spelling).toMatchObject({ code: 'VALIDATION_FAILED' });
      }
    });
  });

  test('is refused until its timestamp expires, even for the earliest possible first use', () =>
    withHeldClock(async () => {
      const { session, inner } = await goodRequest();
      const envelope = session.seal({ ...inner, timestamp: unixSeconds() + 60 });
      expect(session.open(await post(envelope))).toMatchObject({ code: 'OK' });
      for (const seconds of [60, 59, 1, 0.999]) {
        server.clock.step(seconds);
        const late = unixSeconds() - (Number(inner.timestamp) + 60) > 60;
        expectRefusal(await post(envelope), 400, late ? 'CLOCK_SKEW' : 'REPLAY');
      }
      server.clock.step(1);
      expectRefusal(await post(envelope), 400, 'CLOCK_SKEW');
    }));

  test('in another session cannot be decrypted, and a nonce counts only in its own session', async () => {
    const { licenseKey, session, inner, envelope } = await goodRequest();
    const other = await openSession(server, application);
    expect(session.open(await post(envelope))).toMatchObject({ code: 'OK' });
    await changingNothing(async () => {
      expectRefusal(await post({ ...envelope, sessionId: other.sessionId }), 400, 'DECRYPT_FAIL');
    });
    const sameNonce = other.inner({ licenseKey, hwid: 'device', nonce: inner.nonce });
    expect(other.open(await post(other.seal(sameNonce)))).toMatchObject({ code: 'OK' });
  });

  test('of a request with a malformed inner body is REPLAY too', async () => {
    const { session, inner } = await goodRequest();
    const envelope = session.seal({ ...inner, licenseKey: 7 });
    expect(session.open(await post(envelope))).toMatchObject({ code: 'VALIDATION_FAILED' });
    expectRefusal(await post(envelope), 400, 'REPLAY');
  });
});

describe('the clock', () => {
  test.each([0, 60, -60])('of a client can be %i seconds off', (seconds) =>
    withHeldClock(async () => {
      const { session, inner } = await goodRequest();
      const answer = await post(session.seal({ ...inner, timestamp: unixSeconds() + seconds }));
      expect(session.open(answer)).toMatchObject({ code: 'OK' });
    }),
  );

  test.each([61, -61, 3600, -3600])('of a client that is %i seconds off is CLOCK_SKEW', (seconds) =>
    withHeldClock(async () => {
      const { session, inner } = await goodRequest();
      await changingNothing(async () => {
        const envelope = session.seal({ ...inner, timestamp: unixSeconds() + seconds });
        expectRefusal(await post(envelope), 400, 'CLOCK_SKEW');
      });
      // The nonce has not been used.
      expect(session.open(await post(session.seal(inner)))).toMatchObject({ code: 'OK' });
    }),
  );

  test('in milliseconds, at the epoch or at the largest number is CLOCK_SKEW', async () => {
    const { session, inner } = await goodRequest();
    await changingNothing(async () => {
      for (const timestamp of [server.clock.now(), 0, Number.MAX_SAFE_INTEGER]) {
        const answer = await post(session.seal({ ...inner, timestamp: Math.floor(timestamp) }));
        expectRefusal(answer, 400, 'CLOCK_SKEW');
      }
    });
  });
});

describe('a session', () => {
  test('lasts 900 seconds from its handshake and no longer', () =>
    withHeldClock(async () => {
      const { licenseKey, session } = await goodRequest();
      const ask = () => post(session.seal(session.inner({ licenseKey })));
      server.clock.step(899);
      expect(session.open(await ask())).toMatchObject({ code: 'OK' });
      server.clock.step(1);
      await changingNothing(async () => {
        expectRefusal(await ask(), 401, 'SESSION_EXPIRED');
      });
      server.clock.step(86_400);
      expectRefusal(await ask(), 401, 'SESSION_EXPIRED');
    }));

  test('that has expired is SESSION_EXPIRED before the envelope is checked', () =>
    withHeldClock(async () => {
      const { session } = await goodRequest();
      server.clock.step(900);
      const garbage = { sessionId: session.sessionId, ivB64: '?', ciphertextB64: '', tagB64: '' };
      expectRefusal(await post(garbage), 401, 'SESSION_EXPIRED');
    }));

  test('whose ticket differs in one bit of any byte is SESSION_EXPIRED', async () => {
    const { session, envelope } = await goodRequest();
    const ticket = bytesOf(session.sessionId, decodeBase64Url);
    await changingNothing(async () => {
      const forged = [...ticket.keys()].map((index) => encodeBase64Url(flipped(ticket, index)));
      const answers = await Promise.all(forged.map((sessionId) => post({ ...envelope, sessionId })));
      for (const answer of answers) expectRefusal(answer, 401, 'SESSION_EXPIRED');
    });
    expect(session.open(await post(envelope))).toMatchObject({ code: 'OK' });
  });

  test('whose ticket is truncated, extended or encoded differently is SESSION_EXPIRED', async () => {
    const { session, envelope } = await goodRequest();
    const { sessionId } = session;
    const ticket = bytesOf(sessionId, decodeBase64Url);
    const longer = new Uint8Array([...ticket, 0]);
    const forged = [
      sessionId.slice(0, -1),
      sessionId.slice(4),
      `${sessionId}A`,
      `${sessionId}=`,
      ` ${sessionId}`,
      encodeBase64Url(ticket.subarray(0, -1)),
      encodeBase64Url(ticket.subarray(0, 40)),
      encodeBase64Url(longer),
      Buffer.from(ticket).toString('base64').replaceAll('=', '+'),
      'x',
      encodeBase64Url(new Uint8Array(randomBytes(ticket.length))),
      'A'.repeat(1024),
    ];
    await changingNothing(async () => {
      for (const text of forged) {
        expectRefusal(await post({ ...envelope, sessionId: text }), 401, 'SESSION_EXPIRED');
      }
    });
  });
});

describe('an envelope', () => {
  test.each(['ivB64', 'ciphertextB64', 'tagB64'] as const)(
    'that differs in one bit of any byte of %s is DECRYPT_FAIL',
    async (part) => {
      const { session, envelope } = await goodRequest();
      const bytes = bytesOf(envelope[part]);
      await changingNothing(async () => {
        const forged = [...bytes.keys()].map((index) => encodeBase64(flipped(bytes, index)));
        const answers = await Promise.all(forged.map((text) => post({ ...envelope, [part]: text })));
        for (const answer of answers) expectRefusal(answer, 400, 'DECRYPT_FAIL');
      });
      // None of them used the nonce.
      expect(session.open(await post(envelope))).toMatchObject({ code: 'OK' });
    },
  );

  test('with parts of another length or encoding is DECRYPT_FAIL', async () => {
    const { envelope } = await goodRequest();
    const iv = bytesOf(envelope.ivB64);
    const ciphertext = bytesOf(envelope.ciphertextB64);
    const tag = bytesOf(envelope.tagB64);
    const longCiphertext = new Uint8Array([...ciphertext, ...tag.subarray(0, 4)]);
    const changes: Record<string, string>[] = [
      { ivB64: '' },
      { ivB64: encodeBase64(iv.subarray(0, 8)) },
      { ivB64: encodeBase64(new Uint8Array(16)) },
      { tagB64: '' },
      { tagB64: encodeBase64(tag.subarray(0, 12)) },
      { tagB64: encodeBase64(tag.subarray(4)), ciphertextB64: encodeBase64(longCiphertext) },
      { ciphertextB64: '' },
      { ciphertextB64: encodeBase64(ciphertext.subarray(0, -1)) },
      { ciphertextB64: `${envelope.ciphertextB64}AAAA` },
      { ivB64: ` ${envelope.ivB64}` },
      { tagB64: envelope.tagB64.replaceAll('=', '') },
      { tagB64: `${envelope.tagB64}\n` },
      { ivB64: '????????????????' },
      { tagB64: '\0'.repeat(24) },
      { ciphertextB64: '\ud800' },
    ];
    await changingNothing(async () => {
      for (const change of changes)
        expectRefusal(await post({ ...envelope, ...change }), 400, 'DECRYPT_FAIL');
    });
  });

  test("under another session's key is DECRYPT_FAIL, of the same application or another", async () => {
    const { licenseKey, envelope, session } = await goodRequest();
    const other = await world.createApplication();
    const ours = await openSession(server, application);
    const theirs = await openSession(server, other);
    await changingNothing(async () => {
      for (const { sessionId } of [ours, theirs]) {
        expectRefusal(await post({ ...envelope, sessionId }), 400, 'DECRYPT_FAIL');
      }
      const foreign = theirs.seal(theirs.inner({ licenseKey }));
      const answer = await post({ ...foreign, sessionId: session.sessionId });
      expectRefusal(answer, 400, 'DECRYPT_FAIL');
    });
  });

  test("in another application's session is checked against that application and signed with its key", async () => {
    const { licenseKey } = await goodRequest();
    const other = await world.createApplication();
    const session = await openSession(server, other);
    const answer = await post(session.seal(session.inner({ licenseKey })));
    expect(session.open(answer)).toMatchObject({ success: false, code: 'APP_MISMATCH' });
    const sealed = z
      .object({ ivB64: z.string(), ciphertextB64: z.string(), tagB64: z.string(), signatureB64: z.string() })
      .parse(answer.body);
    const plaintext = openEnvelope(session.sessionKey, sealed) ?? expect.fail('does not open');
    const signature = bytesOf(sealed.signatureB64);
    expect(verifyBytes(signature, plaintext, bytesOf(other.publicKeyB64))).toBe(true);
    expect(verifyBytes(signature, plaintext, bytesOf(application.publicKeyB64))).toBe(false);
  });

  test("that is the server's own response is refused", async () => {
    const { session, envelope } = await goodRequest();
    const answer = await post(envelope);
    expect(session.open(answer)).toMatchObject({ code: 'OK' });
    const reflected = await post(answer.body);
    expect(session.open(reflected)).toMatchObject({ success: false, code: 'VALIDATION_FAILED' });
  });
});

describe('an outer body', () => {
  test('that is not sealed at all is CRYPTO_REQUIRED', async () => {
    const { licenseKey, session, inner } = await goodRequest();
    const bodies = [
      inner,
      { licenseKey },
      { appId: application.id, licenseKey, hwid: 'device', clientVersion: application.version },
      {},
      { sessionId: session.sessionId },
      { envelope: session.seal(inner) },
    ];
    await changingNothing(async () => {
      for (const body of bodies) expectRefusal(await post(body), 400, 'CRYPTO_REQUIRED');
    });
  });

  test('of the wrong shape is VALIDATION_FAILED', async () => {
    const { envelope } = await goodRequest();
    const { sessionId, ivB64, ciphertextB64, tagB64 } = envelope;
    const bodies: unknown[] = [
      '',
      '{',
      '{"sessionId":',
      'null',
      '7',
      '"text"',
      '[]',
      [envelope],
      { ivB64, ciphertextB64, tagB64 },
      { sessionId, ciphertextB64, tagB64 },
      { sessionId, ivB64, tagB64 },
      { sessionId, ivB64, ciphertextB64 },
      { ...envelope, sessionId: '' },
      { ...envelope, sessionId: 'A'.repeat(1025) },
      { ...envelope, sessionId: null },
      { ...envelope, sessionId: '\0' },
      { ...envelope, ivB64: 7 },
      { ...envelope, ivB64: [ivB64] },
      { ...envelope, ivB64: 'A'.repeat(68) },
      { ...envelope, tagB64: null },
      { ...envelope, tagB64: 'A'.repeat(68) },
      { ...envelope, ciphertextB64: { text: ciphertextB64 } },
      { ...envelope, ciphertextB64: 'A'.repeat(16_388) },
    ];
    await changingNothing(async () => {
      for (const body of bodies) expectRefusal(await post(body), 400, 'VALIDATION_FAILED');
    });
  });

  test('of the largest ciphertext is served', async () => {
    const { session, inner } = await goodRequest();
    const room = (16_384 / 4) * 3 - JSON.stringify({ ...inner, padding: '' }).length;
    const envelope = session.seal({ ...inner, padding: 'x'.repeat(room) });
    expect(envelope.ciphertextB64).toHaveLength(16_384);
    expect(session.open(await post(envelope))).toMatchObject({ code: 'OK' });
  });

  test('of more than 64 KiB is PAYLOAD_TOO_LARGE, with or without a declared length', async () => {
    const { envelope } = await goodRequest();
    const text = JSON.stringify({ ...envelope, padding: 'x'.repeat(70_000) });
    await changingNothing(async () => {
      expectRefusal(await post(text), 413, 'PAYLOAD_TOO_LARGE');
      const streamed: RequestInit & { duplex: 'half' } = {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': '10.200.0.1' },
        body: new Blob([text]).stream(),
        duplex: 'half',
      };
      const response = await fetch(server.baseUrl + validatePath, streamed);
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject({ success: false, code: 'PAYLOAD_TOO_LARGE' });
    });
  });
});

describe('an inner body', () => {
  type Inner = Record<string, unknown>;
  const texts: Record<string, (inner: Inner) => string> = {
    'is empty': () => '',
    'is no JSON': () => 'licenseKey=AAAAA',
    'is cut off': (inner) => JSON.stringify(inner).slice(0, -1),
    'has more after it': (inner) => `${JSON.stringify(inner)} {}`,
    'begins with a byte order mark': (inner) => `\ufeff${JSON.stringify(inner)}`,
    'is null': () => 'null',
    'is a number': () => '7',
    'is a text': (inner) => JSON.stringify(JSON.stringify(inner)),
    'is an array': (inner) => JSON.stringify([inner]),
    'is an empty object': () => '{}',
    'is 6,000 arrays deep': () => '['.repeat(6_000) + ']'.repeat(6_000),
    'is 2,000 objects deep': () => '{"a":'.repeat(2_000) + 1 + '}'.repeat(2_000),
    'has a lone surrogate in the key': (inner) =>
      JSON.stringify({ ...inner, licenseKey: '@' }).replace('@', '\\ud83d'),
    'has a lone surrogate in the HWID': (inner) =>
      JSON.stringify({ ...inner, hwid: '@' }).replace('@', 'device\\udfff'),
  };
  const without = (member: string): ((inner: Inner) => Inner) => {
    return ({ [member]: _, ...rest }) => rest;
  };
  const having = (members: Inner): ((inner: Inner) => Inner) => {
    return (inner) => ({ ...inner, ...members });
  };
  const nest = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  const changes: Record<string, (inner: Inner) => Inner> = {
    'has no nonce': without('nonce'),
    'has a nonce that is a number': having({ nonce: 7 }),
    'has a nonce of 7 bytes': having({ nonce: nonceOf(7) }),
    'has a nonce of 65 bytes': having({ nonce: nonceOf(65) }),
    'has an empty nonce': having({ nonce: '' }),
    'has a nonce that is no base64': having({ nonce: '????????????????????????' }),
    'has no timestamp': without('timestamp'),
    'has a timestamp in a text': having({ timestamp: String(Math.floor(Date.now() / 1000)) }),
    'has a timestamp with a fraction': having({ timestamp: Math.floor(Date.now() / 1000) + 0.5 }),
    'has a negative timestamp': having({ timestamp: -1 }),
    'has a timestamp beyond all integers': having({ timestamp: 1e300 }),
    'has no v': without('v'),
    'has v 2': having({ v: 2 }),
    'has v in a text': having({ v: '1' }),
    'has an echoNonce that is no boolean': having({ echoNonce: 'true' }),
    'has no licenseKey': without('licenseKey'),
    'has a licenseKey of null': having({ licenseKey: null }),
    'has a licenseKey that is a number': having({ licenseKey: 12_345 }),
    'has a licenseKey that is an object': having({ licenseKey: { $ne: null } }),
    'has an empty licenseKey': having({ licenseKey: '' }),
    'has a licenseKey of 257 characters': having({ licenseKey: 'A'.repeat(257) }),
    'has a licenseKey of 129 characters that are two units each': having({ licenseKey: '🗝'.repeat(129) }),
    'has a licenseKey with NUL': having({ licenseKey: 'AAAAA\0BBBBB' }),
    'has a licenseKey 3,000 arrays deep': having({ licenseKey: nest(3_000) }),
    'has a HWID of null': having({ hwid: null }),
    'has an empty HWID': having({ hwid: '' }),
    'has a HWID that is a list': having({ hwid: ['device'] }),
    'has a HWID of 257 characters': having({ hwid: 'd'.repeat(257) }),
    'has a HWID of 129 characters that are two units each': having({ hwid: '🗝'.repeat(129) }),
    'has a HWID with NUL': having({ hwid: 'device\0' }),
  };
  const malformed = [
    ...Object.entries(texts),
    ...Object.entries(changes).map(
      ([what, change]) => [what, (inner: Inner) => JSON.stringify(change(inner))] as const,
    ),
  ];

  test.each(malformed)('that %s is VALIDATION_FAILED, sealed and with HTTP 200', async (_what, write) => {
    const { session, inner } = await goodRequest();
    await changingNothing(async () => {
      expect(session.open(await post(session.seal(write(inner))))).toEqual({
        success: false,
        code: 'VALIDATION_FAILED',
        message: expect.stringMatching(/\w/),
        status: null,
        expiresAt: null,
        sessionId: session.sessionId,
        timestamp: expect.any(Number),
        v: 1,
      });
    });
  });

  test('that is not UTF-8 is VALIDATION_FAILED, even if it were JSON after repair', async () => {
    const { session, inner } = await goodRequest();
    const good = Buffer.from(JSON.stringify({ ...inner, hwid: '@' }));
    const at = good.indexOf('@');
    const invalid = [
      [0xff],
      [0xc0, 0xaf],
      [0xed, 0xa0, 0x80],
      [0xf4, 0x90, 0x80, 0x80],
      [0xe2, 0x82],
      [0x80],
    ];
    await changingNothing(async () => {
      for (const bytes of invalid) {
        const plaintext = Buffer.concat([good.subarray(0, at), Buffer.from(bytes), good.subarray(at + 1)]);
        const envelope = sealEnvelope(session.sessionKey, new Uint8Array(plaintext));
        const answer = await post({ sessionId: session.sessionId, ...envelope });
        expect(session.open(answer)).toMatchObject({ success: false, code: 'VALIDATION_FAILED' });
      }
    });
  });

  test('with a deeply nested unknown member is served', async () => {
    const { session, inner } = await goodRequest();
    const envelope = session.seal({ ...inner, deep: nest(3_000) });
    expect(session.open(await post(envelope))).toMatchObject({ code: 'OK' });
  });

  test.each([8, 16, 64])('with a nonce of %i bytes is served', async (length) => {
    const { session, inner } = await goodRequest();
    const answer = await post(session.seal({ ...inner, nonce: nonceOf(length) }));
    expect(session.open(answer)).toMatchObject({ code: 'OK' });
  });

  test('with a key and a HWID of 256 characters is served', async () => {
    const { id, session, inner } = await goodRequest();
    const hwid = '漢'.repeat(256);
    expect(session.open(await post(session.seal({ ...inner, hwid })))).toMatchObject({ code: 'OK' });
    expect(await storedLicense(server, id)).toMatchObject({ hwid });
    const unknown = session.inner({ licenseKey: '🗝'.repeat(128) });
    expect(session.open(await post(session.seal(unknown)))).toMatchObject({ code: 'LICENSE_NOT_FOUND' });
  });
});

test('an unavailable replay guard results in 503 and no verdict', async () => {
  const own = await startTestServer();
  onTestFinished(() => own.close());
  const ownApplication = await (await createWorld(own)).createApplication();
  const { licenseKey } = await ownApplication.mintOne({ durationSeconds: 60 });
  const session = await openSession(own, ownApplication);
  const before = await databaseState(own);
  await own.deps.services.store.close();
  for (const key of [licenseKey, 'no such key']) {
    const answer = await post(session.seal(session.inner({ licenseKey: key, hwid: 'device' })), own.baseUrl);
    expectRefusal(answer, 503, 'UNAVAILABLE');
  }
  expect(await databaseState(own)).toEqual(before);
});

test('a restart ends earlier sessions, and with them every envelope', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const start = () => startTestServer({ database: 'memory', env: { DATA_DIR: join(directory, 'data') } });
  const first = await start();
  const ownApplication = await (await createWorld(first)).createApplication();
  const { licenseKey } = await ownApplication.mintOne();
  const session = await openSession(first, ownApplication);
  const envelope = session.seal(session.inner({ licenseKey, hwid: 'device' }));
  expect(session.open(await post(envelope, first.baseUrl))).toMatchObject({ code: 'OK' });
  await first.close();

  const second = await start();
  onTestFinished(() => second.close());
  expectRefusal(await post(envelope, second.baseUrl), 401, 'SESSION_EXPIRED');
  const fresh = session.seal(session.inner({ licenseKey }));
  expectRefusal(await post(fresh, second.baseUrl), 401, 'SESSION_EXPIRED');
  const reopened = await openSession(second, ownApplication);
  expect(await reopened.ask(validatePath, { licenseKey, hwid: 'device' })).toMatchObject({ code: 'OK' });
  expect(await reopened.ask(validatePath, { licenseKey, hwid: 'other' })).toMatchObject({
    code: 'HWID_MISMATCH',
  });
}, 60_000);

const onServer = process.env.TEST_DATABASE_KIND === 'server';

describe.skipIf(!onServer)('two instances on one database', () => {
  const withoutRedis = async () => {
    const first = await startTestServer();
    onTestFinished(() => first.close());
    const second = await startTestServer({ beside: first });
    onTestFinished(() => second.close());
    return [first, second] as const;
  };

  const withRedis = async () => {
    const redis = await OwnRedis.start();
    const env = { REDIS_URL: redis.url };
    const first = await startTestServer({ env });
    onTestFinished(() => first.close());
    const second = await startTestServer({ env, beside: first });
    onTestFinished(() => second.close());
    const ownWorld = await createWorld(first);
    const ownApplication = await ownWorld.createApplication();
    const license = await ownApplication.mintOne({ durationSeconds: 3600 });
    return { redis, first, second, world: ownWorld, application: ownApplication, license };
  };

  test("refuse each other's sessions if each has its own replay guard", async () => {
    const [first, second] = await withoutRedis();
    const ownApplication = await (await createWorld(first)).createApplication();
    const session = await openSession(first, ownApplication);
    const ask = (baseUrl: string) => post(session.seal(session.inner({ licenseKey: 'none' })), baseUrl);
    expectRefusal(await ask(second.baseUrl), 401, 'SESSION_EXPIRED');
    expect(session.open(await ask(first.baseUrl))).toMatchObject({ code: 'LICENSE_NOT_FOUND' });
  });

  describe.skipIf(!hasRedisServer)('and one Redis', () => {
    test("accept each other's sessions and share the replay guard", async () => {
      const { first, second, application: ownApplication, license } = await withRedis();
      const session = await openSession(first, ownApplication);
      const envelopeOf = (): unknown => session.seal(session.inner({ licenseKey: license.licenseKey }));
      expect(session.open(await post(envelopeOf(), second.baseUrl))).toMatchObject({ code: 'OK' });
      const envelope = envelopeOf();
      expect(session.open(await post(envelope, first.baseUrl))).toMatchObject({ code: 'OK' });
      expectRefusal(await post(envelope, second.baseUrl), 400, 'REPLAY');

      const raced = envelopeOf();
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, turn) => post(raced, (turn % 2 === 0 ? first : second).baseUrl)),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      for (const answer of answers) if (answer.status !== 200) expectRefusal(answer, 400, 'REPLAY');
    });

    test("follow each other's bans and settings", async () => {
      const { first, second, world: ownWorld, application: ownApplication, license } = await withRedis();
      const { licenseKey } = license;
      const session = await openSession(first, ownApplication);
      const ask = async (instance: TestServer) =>
        session.open(await post(session.seal(session.inner({ licenseKey })), instance.baseUrl));
      for (const instance of [first, second]) expect(await ask(instance)).toMatchObject({ code: 'OK' });
      await ownApplication.settings({ version: '2.0.0' });
      await expect.poll(() => ask(second)).toMatchObject({ code: 'APP_OUTDATED' });
      await ownApplication.settings({ version: ownApplication.version });
      await expect.poll(() => ask(second)).toMatchObject({ code: 'OK' });
      const banned = await ownWorld.client.post(`/api/v1/licenses/${license.id}/ban`);
      expect(banned.status).toBe(200);
      await expect.poll(() => ask(second)).toMatchObject({ code: 'BANNED' });
    });

    test('refuse with 503 while Redis is unavailable, without a verdict', async () => {
      const { redis, first, second, application: ownApplication, license } = await withRedis();
      const session = await openSession(first, ownApplication);
      const before = await databaseState(first);
      await redis.kill();
      for (const { baseUrl } of [first, second, first]) {
        const envelope = session.seal(session.inner({ licenseKey: license.licenseKey, hwid: 'device' }));
        const answer = await post(envelope, baseUrl);
        expectRefusal(answer, 503, 'UNAVAILABLE');
      }
      expect(await databaseState(first)).toEqual(before);
    });
  });
});

const naughtyFile = new URL('../../../shared/vectors/naughty-strings.json', import.meta.url);
const haveNaughtyStrings = existsSync(naughtyFile);
if (!haveNaughtyStrings)
  process.stderr.write('Skipped: the naughty strings, which are not on this machine.\n');

describe.skipIf(!haveNaughtyStrings)('naughty strings', { tags: 'slow' }, () => {
  const strings = haveNaughtyStrings
    ? z.array(z.string()).parse(JSON.parse(readFileSync(naughtyFile, 'utf8')))
    : [];
  const isAcceptable = (text: string) =>
    text.length >= 1 && text.length <= 256 && !text.includes('\0') && text.isWellFormed();

  let own: TestServer;
  let session: SealedSession;
  let ownApplication: SeededApplication;
  beforeAll(async () => {
    own = await startTestServer({ env: { RATE_LIMITS: 'validate=1000000' } });
    ownApplication = await (await createWorld(own)).createApplication();
    session = await openSession(own, ownApplication);
  });
  afterAll(() => own.close());

  test('as license keys are unknown or malformed', async () => {
    expect(strings.length).toBeGreaterThan(500);
    for (const licenseKey of strings) {
      const code = isAcceptable(licenseKey) ? 'LICENSE_NOT_FOUND' : 'VALIDATION_FAILED';
      expect(await session.ask(validatePath, { licenseKey }), licenseKey).toMatchObject({
        success: false,
        code,
      });
    }
  });

  test('as HWIDs can be bound, and match only themselves', async () => {
    const licenses = await ownApplication.mint({ amount: strings.length });
    const check = async (hwid: string, index: number) => {
      const { id, licenseKey } = licenses[index] ?? expect.fail('one license a string');
      const ask = async (members: object) =>
        (await session.ask(validatePath, { licenseKey, ...members })).code;
      if (!isAcceptable(hwid)) {
        expect(await ask({ hwid }), hwid).toBe('VALIDATION_FAILED');
        return;
      }
      expect(await ask({ hwid }), hwid).toBe('OK');
      expect(await storedLicense(own, id)).toMatchObject({ hwid });
      expect(await ask({ hwid }), hwid).toBe('OK');
      const near = new Set([
        hwid.normalize('NFC'),
        hwid.normalize('NFD'),
        hwid.trim(),
        hwid.toLowerCase(),
        `${hwid} `,
      ]);
      near.delete(hwid);
      for (const other of near) {
        expect(await ask({ hwid: other })).toBe(isAcceptable(other) ? 'HWID_MISMATCH' : 'VALIDATION_FAILED');
      }
    };
    const atOnce = 20;
    for (let from = 0; from < strings.length; from += atOnce) {
      const some = strings.slice(from, from + atOnce);
      await Promise.all(some.map((hwid, offset) => check(hwid, from + offset)));
    }
  }, 120_000);

  test('do not affect later responses', async () => {
    const { licenseKey } = await ownApplication.mintOne();
    expect(await session.ask(validatePath, { licenseKey, hwid: 'device' })).toMatchObject({ code: 'OK' });
    expect(own.logLines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
  });
});
