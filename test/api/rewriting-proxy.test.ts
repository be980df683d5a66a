import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { decodeBase64 } from '../../src/protocol/base64.ts';
import { utf8 } from '../../src/protocol/bytes.ts';
import { openEnvelope, sealEnvelope } from '../../src/protocol/envelope.ts';
import { deriveSessionKey } from '../../src/protocol/key-schedule.ts';
import { sealedRequest, sessionInitRequest, sessionInitResponse } from '../../src/protocol/messages.ts';
import { type ClientOptions, createClient } from '../../src/sdk/index.ts';
import { ApiClient } from '../setup/api-client.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { useWorld } from '../setup/use-world.ts';
import type { SeededApplication } from '../setup/world.ts';

// A machine's owner terminates TLS in a proxy, and has the service judge another license than the program asked about.

const { server, world } = useWorld();

type Members = Readonly<Record<string, unknown>>;
const members = z.record(z.string(), z.unknown());
const bytes = (base64: string): Uint8Array => decodeBase64(base64) ?? expect.fail('malformed base64');

/** A `fetch` that derives the session key from the handshake, and rewrites what is sealed under it. */
function rewriting(rewrite: (inner: Members) => Members): typeof fetch {
  let key: Uint8Array | undefined;
  return async (input, init) => {
    const sent: unknown = JSON.parse(String(init?.body));
    const handshake = sessionInitRequest.safeParse(sent);
    if (handshake.success) {
      const response = await fetch(input, init);
      const { serverNonceB64, hkdfSaltB64 } = sessionInitResponse.parse(await response.clone().json());
      key = deriveSessionKey({
        clientNonce: bytes(handshake.data.clientNonceB64),
        serverNonce: bytes(serverNonceB64),
        salt: bytes(hkdfSaltB64),
        appId: handshake.data.appId,
      });
      return response;
    }
    const { sessionId, ...envelope } = sealedRequest.parse(sent);
    if (key === undefined) throw new Error('no handshake came through this proxy');
    const plaintext = openEnvelope(key, envelope) ?? expect.fail('the request does not open');
    const inner = members.parse(JSON.parse(new TextDecoder().decode(plaintext)));
    const body = { sessionId, ...sealEnvelope(key, utf8(JSON.stringify(rewrite(inner)))) };
    return fetch(input, { ...init, body: JSON.stringify(body) });
  };
}

/** An application whose licenses are locked to devices, with a license that the proxy's owner has bought. */
async function bought() {
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  return {
    application,
    licenseKey,
    swap: (inner: Members) => ({ ...inner, licenseKey, hwid: 'bought-device' }),
  };
}

const program = (application: SeededApplication, fetch: ClientOptions['fetch']) =>
  createClient({
    baseUrl: server.baseUrl,
    appId: application.id,
    publicKeyB64: application.publicKeyB64,
    version: application.version,
    protocol: 1,
    now: () => server.clock.now(),
    fetch,
  });

/** What a client of before `echoRequest` concludes: envelope, signature, session and nonce are checked. */
async function earlierClient(session: SealedSession, rewrite: (inner: Members) => Members) {
  const inner = session.inner({ licenseKey: 'NEVER-BOUGHT', hwid: 'another-device', echoNonce: true });
  const answer = session.open(await session.client.post(validatePath, session.seal(rewrite(inner))));
  expect(answer.nonce).toBe(inner.nonce);
  return answer;
}

test('fools a client that does not ask for the hash of its request', async () => {
  const { application, swap } = await bought();
  const session = await openSession(server, application);
  expect(await earlierClient(session, (inner) => inner)).toMatchObject({ code: 'LICENSE_NOT_FOUND' });
  expect(await earlierClient(session, swap)).toMatchObject({ success: true, code: 'OK' });
});

describe('does not fool the SDK', () => {
  const never = { licenseKey: 'NEVER-BOUGHT', hwid: 'another-device' };
  const rewrites: [string, (inner: Members, swap: (inner: Members) => Members) => Members][] = [
    ['and asks for the hash as the program did', (inner, swap) => swap(inner)],
    ['and does not ask for the hash', (inner, swap) => swap({ ...inner, echoRequest: false })],
    ['and spells the same request in another way', (inner) => ({ ...inner, later: 1 })],
  ];
  test.each(rewrites)('when it sends another request %s', async (_how, rewrite) => {
    const { application, swap } = await bought();
    const { validate } = program(
      application,
      rewriting((inner) => rewrite(inner, swap)),
    );
    const outcome = await validate(never.licenseKey, { hwid: never.hwid });
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
  });

  test('about a login, a registration or an upgrade either', async () => {
    const { application, licenseKey } = await bought();
    const person = { username: 'the.owner', password: 'a password of the owner' };
    const direct = program(application, fetch);
    expect(await direct.register({ ...person, licenseKey })).toMatchObject({ valid: true });
    const client = program(
      application,
      rewriting((inner) => ({ ...inner, ...person })),
    );
    const asked = { username: 'somebody-else', password: 'a password of theirs' };
    for (const outcome of [await client.login(asked), await client.register(asked)]) {
      expect(outcome).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
    }
    const upgraded = await client.upgrade({ username: asked.username, licenseKey: never.licenseKey });
    expect(upgraded).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
  });

  test('when it sends a registration, unopened, to the path of a login', async () => {
    const { application, licenseKey } = await bought();
    const person = { username: 'the.owner', password: 'a password of the owner' };
    expect(await program(application, fetch).register({ ...person, licenseKey })).toMatchObject({
      valid: true,
    });
    const client = program(application, (input, init) =>
      fetch(String(input).replace('/client/register', '/client/login'), init),
    );
    const outcome = await client.register({ ...person, licenseKey: never.licenseKey });
    expect(outcome).toMatchObject({ kind: 'verdict', valid: false, code: 'VALIDATION_FAILED' });
  });

  test('and a proxy that changes nothing gets in no one’s way', async () => {
    const { application, licenseKey } = await bought();
    const client = program(
      application,
      rewriting((inner) => inner),
    );
    expect(await client.validate(licenseKey)).toMatchObject({ valid: true });
  });
});

test('a malformed request that asks for its hash gets it in the sealed refusal', async () => {
  const { application } = await bought();
  const session = await openSession(server, application, { client: new ApiClient(server.baseUrl) });
  const answer = await session.ask(validatePath, { echoRequest: true, licenseKey: 5 });
  expect(answer).toMatchObject({ code: 'VALIDATION_FAILED', requestSha256B64: expect.any(String) });
  expect(await session.ask(validatePath, { licenseKey: 5 })).not.toHaveProperty('requestSha256B64');
});

describe('in front of a program that speaks version 2', () => {
  const asked = { licenseKey: 'NEVER-BOUGHT', hwid: 'another-device' };
  const programOf = (application: SeededApplication, proxy: typeof fetch) =>
    createClient({
      baseUrl: server.baseUrl,
      appId: application.id,
      publicKeyB64: application.publicKeyB64,
      version: application.version,
      now: () => server.clock.now(),
      protocol: 2,
      store: null,
      fetch: proxy,
    });
  const isCall = (input: unknown) => String(input).endsWith('/api/v2/call');

  test('it has no question of its own answered in the place of the program’s', async () => {
    const { application, licenseKey } = await bought();
    let answered: Response | undefined;
    const proxy = programOf(application, async (input, init) => {
      const response = await fetch(input, init);
      if (isCall(input)) answered = response.clone();
      return response;
    });
    expect(await proxy.validate(licenseKey, { hwid: 'bought-device' })).toMatchObject({ valid: true });
    const victim = programOf(application, async (input, init) =>
      isCall(input) ? (answered ?? expect.fail('no answer')).clone() : fetch(input, init),
    );
    const outcome = await victim.validate(asked.licenseKey, { hwid: asked.hwid });
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
  });

  test('it has no question of its own sent in the place of the program’s', async () => {
    const { application, licenseKey } = await bought();
    let own: RequestInit['body'];
    const proxy = programOf(application, (input, init) => {
      if (!isCall(input)) return fetch(input, init);
      own = init?.body;
      return Promise.reject(new Error('kept back'));
    });
    expect(await proxy.validate(licenseKey, { hwid: 'bought-device' })).toMatchObject({ reason: 'network' });
    const victim = programOf(application, (input, init) =>
      fetch(input, isCall(input) ? { ...init, body: own ?? null } : init),
    );
    const outcome = await victim.validate(asked.licenseKey, { hwid: asked.hwid });
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
  });

  test('it does not make the program speak version 1', async () => {
    const { application } = await bought();
    const paths: string[] = [];
    const client = programOf(application, async (input, init) => {
      paths.push(new URL(String(input)).pathname);
      const refusal = { success: false, error: 'Only version 1 here', code: 'APP_NOT_FOUND' };
      return isCall(input) ? Response.json(refusal, { status: 404 }) : fetch(input, init);
    });
    expect(await client.validate(asked.licenseKey)).toMatchObject({ kind: 'failure', code: 'APP_NOT_FOUND' });
    expect(paths).toEqual([`/api/v2/keys/${application.id}`, '/api/v2/call']);
  });
});
