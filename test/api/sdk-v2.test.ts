import { describe, expect, onTestFinished, test } from 'vitest';
import { type ClientOptions, createClient } from '../../src/sdk/index.ts';
import { randomIp } from '../setup/api-client.ts';
import { startTestServer } from '../setup/server.ts';
import { storedLicense, storedLog } from '../setup/stored.ts';
import { useWorld } from '../setup/use-world.ts';
import { createWorld, type SeededApplication } from '../setup/world.ts';

const { server, world } = useWorld();

/** What an answer says of a license that has none of it. */
const nothingMore = { graceEndsAt: null, entitlements: {}, metadata: {} };

/** The SDK as in a program, from a separate address, with a count of its requests. */
function program(application: SeededApplication, options: Partial<ClientOptions> = {}) {
  const sent: string[] = [];
  const ip = randomIp();
  const client = createClient({
    baseUrl: server.baseUrl,
    appId: application.id,
    publicKeyB64: application.publicKeyB64,
    version: application.version,
    now: () => server.clock.now(),
    store: null,
    ...options,
    fetch: (input, init) => {
      sent.push(new URL(String(input)).pathname);
      const headers = new Headers(init?.headers);
      headers.set('X-Forwarded-For', ip);
      return (options.fetch ?? fetch)(input, { ...init, headers });
    },
  });
  const count = (part: string) => sent.filter((path) => path.includes(part)).length;
  return { client, ip, keysAsked: () => count('/api/v2/keys/'), calls: () => count('/api/v2/call'), sent };
}

test('a license is valid, and bound to the first device', async () => {
  const application = await world.createApplication();
  const { id, licenseKey } = await application.mintOne({ durationSeconds: 3600, subscriptionTier: 3 });
  const { client, sent } = program(application);
  expect(await client.validate(licenseKey, { hwid: 'laptop' })).toEqual({
    kind: 'verdict',
    valid: true,
    code: 'OK',
    message: 'License is valid.',
    status: 'active',
    expiresAt: expect.any(Date),
    subscriptionTier: 3,
    ...nothingMore,
    source: 'service',
  });
  expect(sent).toEqual([`/api/v2/keys/${application.id}`, '/api/v2/call']);
  expect(await client.validate(licenseKey, { hwid: 'desktop' })).toEqual({
    kind: 'verdict',
    valid: false,
    code: 'HWID_MISMATCH',
    message: 'This license is bound to another device.',
    source: 'service',
  });
  expect(await storedLicense(server, id)).toMatchObject({ hwid: 'laptop' });
  expect(sent).toHaveLength(3);
});

test('an unknown key and malformed ones are refused, and are not failures', async () => {
  const application = await world.createApplication();
  const { client } = program(application);
  expect(await client.validate('no such key')).toMatchObject({ valid: false, code: 'LICENSE_NOT_FOUND' });
  for (const malformed of ['', 'x'.repeat(20_000), 'a\0b', 'a\ud800']) {
    const refused = { valid: false, code: 'VALIDATION_FAILED' };
    expect(await client.validate(malformed)).toMatchObject(refused);
    expect(await client.validate('K', { hwid: malformed })).toMatchObject(refused);
  }
});

test('a ban refuses the next call, with the message of the developer', async () => {
  const application = await world.createApplication();
  await application.settings({ responseMessages: { BANNED: 'Write to help@example.com' } });
  const { id, licenseKey } = await application.mintOne();
  const { client } = program(application);
  expect(await client.validate(licenseKey)).toMatchObject({ valid: true });
  expect((await world.client.post(`/api/v1/licenses/${id}/ban`)).status).toBe(200);
  const refused = { valid: false, code: 'BANNED', message: 'Write to help@example.com' };
  expect(await client.validate(licenseKey)).toMatchObject(refused);
});

test('a disabled application and an outdated program are signed refusals', async () => {
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  await application.settings({ status: 'disabled' });
  expect(await program(application).client.validate(licenseKey)).toMatchObject({
    kind: 'verdict',
    code: 'APP_DISABLED',
  });
  await application.settings({ status: 'active', version: '2.0.0' });
  const { client } = program(application, { version: '1.0.0' });
  expect(await client.validate(licenseKey)).toMatchObject({ kind: 'verdict', code: 'APP_OUTDATED' });
});

test('a deleted application is a failure', async () => {
  const application = await world.createApplication();
  const { client } = program(application);
  expect(await client.validate('K')).toMatchObject({ kind: 'verdict' });
  expect((await world.client.delete(`/api/v1/apps/${application.id}`)).status).toBe(200);
  const failure = { kind: 'failure', reason: 'server-rejected', code: 'APP_NOT_FOUND' };
  expect(await client.validate('K')).toMatchObject(failure);
  expect(await program(application).client.validate('K')).toMatchObject(failure);
});

test("another application's public key does not verify this one's statement", async () => {
  const application = await world.createApplication();
  const other = await world.createApplication();
  const { client, calls } = program(application, { publicKeyB64: other.publicKeyB64 });
  expect(await client.validate('K')).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
  expect(calls()).toBe(0);
});

test.each([-365 * 86_400, -120, 120, 365 * 86_400])(
  'a clock that is %d seconds wrong costs one request',
  async (seconds) => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    const { client, calls } = program(application, { now: () => server.clock.now() + seconds * 1000 });
    expect(await client.validate(licenseKey)).toMatchObject({ valid: true });
    expect(await client.validate(licenseKey)).toMatchObject({ valid: true });
    expect(calls()).toBe(3);
  },
);

test('concurrent calls share one key, and each gets its own result', async () => {
  const application = await world.createApplication();
  const licenses = await application.mint({ amount: 40 });
  const { client, keysAsked, calls } = program(application);
  const outcomes = await Promise.all(
    licenses.flatMap(({ licenseKey }, index) => [
      client.validate(licenseKey, { hwid: `device-${index}` }),
      client.validate(`not ${licenseKey}`),
    ]),
  );
  for (const [index, outcome] of outcomes.entries()) {
    const refused = { valid: false, code: 'LICENSE_NOT_FOUND' };
    expect(outcome).toMatchObject(index % 2 === 0 ? { valid: true } : refused);
  }
  expect([keysAsked(), calls()]).toEqual([1, 80]);
  expect(await storedLog(server, application.id, 'license_validated')).toHaveLength(80);
});

test('a program over a limit is told when to retry', async () => {
  const application = await world.createApplication();
  const attempts = async (ask: () => Promise<{ readonly kind: string }>, amount: number) =>
    (await Promise.all(Array.from({ length: amount }, ask))).filter(({ kind }) => kind === 'failure');
  const validator = program(application).client;
  const unsigned = await attempts(() => validator.validate('no such key'), 125);
  const upgrader = program(application).client;
  const signed = await attempts(() => upgrader.upgrade({ username: 'eve', licenseKey: 'x' }), 32);
  expect([unsigned.length, signed.length]).toEqual([5, 2]);
  for (const outcome of [...unsigned, ...signed]) {
    expect(outcome).toMatchObject({
      reason: 'rate-limited',
      code: 'RATE_LIMITED',
      retryAfterSeconds: expect.any(Number),
    });
  }
});

test('a service that cannot judge says so in a signed answer', async () => {
  const own = await startTestServer();
  onTestFinished(() => own.close());
  const application = await (await createWorld(own)).createApplication();
  const { client } = program(application, { baseUrl: own.baseUrl });
  expect(await client.validate('K')).toMatchObject({ kind: 'verdict' });
  await own.deps.services.store.close();
  expect(await client.validate('K')).toMatchObject({ kind: 'failure', reason: 'unavailable' });
});

const password = 'correct horse battery';

test('a user registers, logs in and upgrades', async () => {
  const application = await world.createApplication();
  const first = await application.mintOne({ durationSeconds: 3600, subscriptionTier: 1 });
  const second = await application.mintOne({ subscriptionTier: 2 });
  const { client, ip } = program(application);
  const user = { username: 'ada', password, hwid: 'laptop' };
  const outcomes = [
    await client.register({ ...user, email: 'ada@example.com', licenseKey: first.licenseKey }),
    await client.login(user),
    await client.upgrade({ username: 'ada', licenseKey: second.licenseKey, hwid: 'laptop' }),
  ];
  for (const [index, outcome] of outcomes.entries()) {
    expect(outcome).toEqual({
      kind: 'verdict',
      valid: true,
      code: 'OK',
      message: 'License is valid.',
      source: 'service',
      sessionToken: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      expiresAt: expect.any(Date),
      user: {
        id: expect.any(String),
        username: 'ada',
        email: 'ada@example.com',
        applicationId: application.id,
      },
      license: {
        id: index === 2 ? second.id : first.id,
        status: 'active',
        expiresAt: index === 2 ? null : expect.any(Date),
        subscriptionTier: index === 2 ? 2 : 1,
        ...nothingMore,
      },
      session: { ip, hwid: 'laptop' },
    });
  }
  const refused = (code: string) => ({ kind: 'verdict', valid: false, code, source: 'service' });
  expect(await client.login({ username: 'ada', password: 'wrong' })).toMatchObject(
    refused('INVALID_CREDENTIALS'),
  );
  expect(await client.register({ ...user, licenseKey: first.licenseKey })).toMatchObject(
    refused('USERNAME_TAKEN'),
  );
  expect(await client.register({ username: 'a b', password })).toMatchObject(refused('VALIDATION_FAILED'));
});

describe('with an application that requires version 2', () => {
  test('the SDK of version 2 validates, and that of version 1 is outdated', async () => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    await application.settings({ protocol: 'v2_only' });
    expect(await program(application).client.validate(licenseKey)).toMatchObject({ valid: true });
    expect(await program(application, { protocol: 1 }).client.validate(licenseKey)).toMatchObject({
      kind: 'failure',
      code: 'APP_OUTDATED',
    });
  });
});
