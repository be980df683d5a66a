import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { decodeBase64, encodeBase64 } from '../../src/protocol/base64.ts';
import { clientPaths } from '../../src/protocol/constants.ts';
import { type ApiAnswer, ApiClient } from '../setup/api-client.ts';
import { type ClientVerbName, clientVerbs, type Members, stateBesideLog } from '../setup/end-users.ts';
import { expectRefusal } from '../setup/refusal.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { databaseState } from '../setup/stored.ts';
import { forFile, useWorld } from '../setup/use-world.ts';

const { server, world } = useWorld();
const application = forFile(() => world.createApplication());

const password = 'correct horse battery';

/** Sends from a separate address, so that no rate limit applies. */
const post = (verb: ClientVerbName, body: unknown): Promise<ApiAnswer> =>
  new ApiClient(server.baseUrl).post(clientPaths[verb], body);

const flipped = (base64: string): string => {
  const bytes = decodeBase64(base64) ?? expect.fail('not base64');
  return encodeBase64(bytes.map((byte, at) => (at === 0 ? byte ^ 1 : byte)));
};

/** A user, a license of a higher tier, and a session; and a valid request for each verb. */
async function prepare() {
  const name = `u${randomBytes(6).toString('hex')}`;
  const { licenseKey } = await application.mintOne({ subscriptionTier: 1 });
  const higher = await application.mintOne({ subscriptionTier: 2 });
  const session = await openSession(server, application);
  const registered = { username: name, password, licenseKey };
  expect(await session.ask(clientPaths.register, registered)).toMatchObject({ code: 'OK' });
  const members: Record<ClientVerbName, Members> = {
    register: { username: `${name}-2`, password, licenseKey: higher.licenseKey },
    login: { username: name, password },
    upgrade: { username: name, licenseKey: higher.licenseKey },
  };
  return { session, members };
}

/** Sends requests that must be refused before any decision: not even the log changes. */
async function changingNothing(work: () => Promise<void>): Promise<void> {
  const before = await databaseState(server);
  await work();
  expect(await databaseState(server)).toEqual(before);
}

describe.each(clientVerbs)('a sealed %s', (verb) => {
  test('is accepted once: a replay from any address on any of the routes is REPLAY', async () => {
    const { session, members } = await prepare();
    const envelope = session.seal(session.inner(members[verb]));
    expect(session.open(await post(verb, envelope))).toMatchObject({ code: 'OK' });
    await changingNothing(async () => {
      for (const other of clientVerbs) expectRefusal(await post(other, envelope), 400, 'REPLAY');
    });
  });

  test('in 20 concurrent copies is accepted once', async () => {
    const { session, members } = await prepare();
    const envelope = session.seal(session.inner(members[verb]));
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(verb, envelope)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expectRefusal(answer, 400, 'REPLAY');
  });

  test('that is more than 60 seconds off is CLOCK_SKEW', async () => {
    const { session, members } = await prepare();
    const now = Math.floor(server.clock.now() / 1000);
    await changingNothing(async () => {
      for (const timestamp of [now - 65, now + 65]) {
        const inner = session.inner({ ...members[verb], timestamp });
        expectRefusal(await post(verb, session.seal(inner)), 400, 'CLOCK_SKEW');
      }
    });
  });

  test('that was tampered with, or sealed in another session, is DECRYPT_FAIL', async () => {
    const { session, members } = await prepare();
    const other = await openSession(server, application);
    const envelope = session.seal(session.inner(members[verb]));
    const { ivB64, ciphertextB64, tagB64 } = envelope;
    await changingNothing(async () => {
      for (const wrong of [
        { ...envelope, ivB64: flipped(ivB64) },
        { ...envelope, ciphertextB64: flipped(ciphertextB64) },
        { ...envelope, tagB64: flipped(tagB64) },
        { ...envelope, sessionId: other.sessionId },
      ]) {
        expectRefusal(await post(verb, wrong), 400, 'DECRYPT_FAIL');
      }
    });
    expect(session.open(await post(verb, envelope)), 'nothing was used up').toMatchObject({ code: 'OK' });
  });

  test('in an expired or unknown session is SESSION_EXPIRED', async () => {
    const { session, members } = await prepare();
    const forged = { ...session.seal(session.inner(members[verb])), sessionId: 'x'.repeat(200) };
    expectRefusal(await post(verb, forged), 401, 'SESSION_EXPIRED');
    server.clock.step(901);
    try {
      const late = session.seal(session.inner(members[verb]));
      expectRefusal(await post(verb, late), 401, 'SESSION_EXPIRED');
    } finally {
      server.clock.step(-901);
    }
  });

  test('in plain text is CRYPTO_REQUIRED', async () => {
    const { session, members } = await prepare();
    await changingNothing(async () => {
      const plain = { appId: application.id, clientVersion: application.version, ...members[verb] };
      for (const body of [{}, plain, { sessionId: session.sessionId, ...session.inner(members[verb]) }]) {
        expectRefusal(await post(verb, body), 400, 'CRYPTO_REQUIRED');
      }
    });
  });

  test('with an invalid envelope is VALIDATION_FAILED', async () => {
    const { session, members } = await prepare();
    const envelope = session.seal(session.inner(members[verb]));
    for (const body of [{ ...envelope, tagB64: undefined }, { ...envelope, ivB64: 7 }, [], null, '{', '']) {
      expectRefusal(await post(verb, body), 400, 'VALIDATION_FAILED');
    }
  });

  test('gets its nonce back inside the response only if it asks for it', async () => {
    const { session, members } = await prepare();
    for (const sent of [{ ...members[verb], username: 'nobody', licenseKey: 'x' }, {}]) {
      const inner = session.inner({ ...sent, echoNonce: true });
      const verdict = session.open(await post(verb, session.seal(inner)));
      expect(verdict).toMatchObject({ success: false, nonce: inner.nonce });
    }
    const inner = session.inner({ ...members[verb], echoNonce: true });
    expect(session.open(await post(verb, session.seal(inner)))).toMatchObject({
      success: true,
      nonce: inner.nonce,
    });
    expect(await session.ask(clientPaths[verb], members[verb])).not.toHaveProperty('nonce');
  });

  test('ignores unknown members, including appId and clientVersion', async () => {
    const { session, members } = await prepare();
    const unknown = { appId: 'another', clientVersion: '0.1', success: false, device: ['Ada'] };
    expect(await session.ask(clientPaths[verb], { ...members[verb], ...unknown })).toMatchObject({
      code: 'OK',
      user: { applicationId: application.id },
    });
  });

  test('is not authorized by the cookie of a developer instead of a password or key', async () => {
    const { session } = await prepare();
    const client = world.client.with({ ip: session.client.ip });
    const answer = await client.post(clientPaths[verb], session.seal(session.inner({ username: 'ada' })));
    expect(session.open(answer)).toMatchObject({ code: 'VALIDATION_FAILED' });
  });
});

describe('a malformed inner body', () => {
  const texts = ['', 7, null, [], {}, 'a\0b', 'a\ud800b'];
  const wrong: Record<ClientVerbName, Record<string, readonly unknown[]>> = {
    register: {
      username: [...texts, undefined, 'ab', 'a'.repeat(65), 'a b', 'adä', 'ada\n', 'a@b.c', ' ada', 'a/b'],
      password: [...texts, undefined, 'seven77', 'x'.repeat(129)],
      email: [...texts, 'ada', 'ada@', '@example.com', 'a b@example.com', `${'a'.repeat(250)}@example.com`],
      licenseKey: [...texts, 'x'.repeat(257)],
      hwid: [...texts, 'x'.repeat(257)],
    },
    login: {
      username: [...texts, undefined, 'a'.repeat(65)],
      password: [...texts, undefined, 'x'.repeat(1025)],
      hwid: [...texts, 'x'.repeat(257)],
    },
    upgrade: {
      username: [...texts, undefined, 'a'.repeat(65)],
      licenseKey: [...texts, undefined, 'x'.repeat(257)],
      hwid: [...texts, 'x'.repeat(257)],
    },
  };
  const heads = {
    nonce: [undefined, 'x', 'AAAA', 7],
    timestamp: [undefined, '7', 1.5, -1],
    v: [undefined, 2, '1'],
  };

  test.each(clientVerbs)('of %s is sealed VALIDATION_FAILED, and changes nothing', async (verb) => {
    const { session, members } = await prepare();
    await changingNothing(async () => {
      for (const [member, values] of Object.entries({ ...wrong[verb], ...heads })) {
        for (const value of values) {
          const inner = session.inner({ ...members[verb], [member]: value });
          const verdict = session.open(await post(verb, session.seal(inner)));
          expect(verdict, `${member}: ${JSON.stringify(value)}`).toEqual({
            success: false,
            code: 'VALIDATION_FAILED',
            message: 'The request is not well formed.',
            sessionId: session.sessionId,
            timestamp: expect.any(Number),
            v: 1,
          });
        }
      }
      for (const text of ['[]', 'null', '7', '"text"', '{', '']) {
        const verdict = session.open(await post(verb, session.seal(text)));
        expect(verdict, text).toMatchObject({ success: false, code: 'VALIDATION_FAILED' });
      }
    });
    expect(await session.ask(clientPaths[verb], members[verb])).toMatchObject({ code: 'OK' });
  });

  test('is refused before every other check', async () => {
    const own = await world.createApplication();
    const session = await openSession(server, own);
    await own.settings({ status: 'disabled' });
    for (const verb of clientVerbs) {
      expect(await session.ask(clientPaths[verb], {})).toMatchObject({ code: 'VALIDATION_FAILED' });
    }
  });

  test.each([
    ['the shortest', { username: 'a-1', password: '8letters', email: 'a@b.co', hwid: 'x' }],
    ['the longest', { username: 'A'.repeat(64), password: 'ü'.repeat(128), hwid: 'x'.repeat(256) }],
    ['every kind of character', { username: 'aZ09._-', password: ' \t\n🗝🗝🗝🗝🗝' }],
  ])('is not a body with the allowed %s members', async (_what, members) => {
    const session = await openSession(server, application);
    const { licenseKey } = await application.mintOne();
    expect(await session.ask(clientPaths.register, { ...members, licenseKey })).toMatchObject({ code: 'OK' });
    expect(await session.ask(clientPaths.login, { ...members, email: undefined })).toMatchObject({
      code: 'OK',
    });
  });
});

test('the limit is 30 a minute per address, shared by the three routes', async () => {
  const { session, members } = await prepare();
  const client = new ApiClient(server.baseUrl);
  for (let round = 0; round < 10; round++) {
    for (const verb of clientVerbs) {
      const last = round === 9 && verb === 'upgrade';
      const body = last ? session.seal(session.inner(members.login)) : {};
      const answer = await client.post(clientPaths[last ? 'login' : verb], body);
      expect(answer.status).toBe(last ? 200 : 400);
      expect(answer.headers.get('ratelimit-limit')).toBe('30');
      if (last) expect(answer.headers.get('ratelimit-remaining')).toBe('0');
    }
  }
  const before = await stateBesideLog(server);
  for (const verb of clientVerbs) {
    const over = await client.post(clientPaths[verb], session.seal(session.inner(members[verb])));
    expectRefusal(over, 429, 'RATE_LIMITED');
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  }
  expect(await stateBesideLog(server)).toEqual(before);
  expect((await client.post(validatePath, {})).status, 'validate has a limit of its own').toBe(400);
  expect((await post('login', session.seal(session.inner(members.login)))).status).toBe(200);
});

test('in a session of an application that is deleted all three are SESSION_EXPIRED', async () => {
  const own = await world.createApplication();
  const session = await openSession(server, own);
  expect((await world.client.delete(`/api/v1/apps/${own.id}`)).status).toBe(200);
  for (const verb of clientVerbs) {
    const members = { username: 'ada', password, licenseKey: 'x' };
    expectRefusal(await post(verb, session.seal(session.inner(members))), 401, 'SESSION_EXPIRED');
  }
});
