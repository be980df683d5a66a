import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type ClientOptions, createClient } from '../../src/sdk/index.ts';
import { randomIp } from '../setup/api-client.ts';
import { storedSessions, storedUser } from '../setup/end-users.ts';
import { startTestServer } from '../setup/server.ts';
import { sql, storedLicense, storedLog } from '../setup/stored.ts';
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
    protocol: 1,
    now: () => server.clock.now(),
    ...options,
    fetch: (input, init) => {
      sent.push(new URL(String(input)).pathname);
      const headers = new Headers(init?.headers);
      headers.set('X-Forwarded-For', ip);
      return (options.fetch ?? fetch)(input, { ...init, headers });
    },
  });
  const count = (end: string) => sent.filter((path) => path.endsWith(end)).length;
  return {
    client,
    ip,
    handshakes: () => count('/session/init'),
    validations: () => count('/licenses/validate'),
  };
}

test('a license is valid, with its tier and expiry', async () => {
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne({ durationSeconds: 3600, subscriptionTier: 3 });
  const outcome = await program(application).client.validate(licenseKey, { hwid: 'laptop' });
  expect(outcome).toEqual({
    kind: 'verdict',
    source: 'service',
    valid: true,
    code: 'OK',
    message: 'License is valid.',
    status: 'active',
    expiresAt: expect.any(Date),
    subscriptionTier: 3,
    ...nothingMore,
  });
  if (outcome.kind !== 'verdict' || !outcome.valid) throw new Error('not valid');
  const remaining = Number(outcome.expiresAt) - server.clock.now();
  expect(remaining).toBeLessThanOrEqual(3_600_000);
  expect(remaining).toBeGreaterThan(3_500_000);
});

test('a license that never expires has no expiry', async () => {
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  expect(await program(application).client.validate(licenseKey)).toMatchObject({
    valid: true,
    expiresAt: null,
  });
});

test('the first device binds, a second one is refused, and the first stays valid', async () => {
  const application = await world.createApplication();
  const { id, licenseKey } = await application.mintOne();
  const laptop = program(application).client;
  const desktop = program(application).client;
  expect(await laptop.validate(licenseKey, { hwid: 'laptop' })).toMatchObject({ valid: true });
  expect(await desktop.validate(licenseKey, { hwid: 'desktop' })).toEqual({
    kind: 'verdict',
    source: 'service',
    valid: false,
    code: 'HWID_MISMATCH',
    message: 'This license is bound to another device.',
  });
  expect(await laptop.validate(licenseKey, { hwid: 'laptop' })).toMatchObject({ valid: true });
  expect(await storedLicense(server, id)).toMatchObject({ hwid: 'laptop' });
});

test('a ban refuses the next call, in the same session', async () => {
  const application = await world.createApplication();
  await application.settings({ responseMessages: { BANNED: 'Write to help@example.com' } });
  const { id, licenseKey } = await application.mintOne();
  const { client, handshakes } = program(application);
  expect(await client.validate(licenseKey)).toMatchObject({ valid: true });
  expect((await world.client.post(`/api/v1/licenses/${id}/ban`)).status).toBe(200);
  expect(await client.validate(licenseKey)).toEqual({
    kind: 'verdict',
    source: 'service',
    valid: false,
    code: 'BANNED',
    message: 'Write to help@example.com',
  });
  expect(handshakes()).toBe(1);
});

test('an unknown key and a malformed one are refused, and are not failures', async () => {
  const application = await world.createApplication();
  const { client } = program(application);
  expect(await client.validate('no such key')).toMatchObject({ valid: false, code: 'LICENSE_NOT_FOUND' });
  expect(await client.validate('')).toMatchObject({ valid: false, code: 'VALIDATION_FAILED' });
  expect(await client.validate('key', { hwid: '' })).toMatchObject({
    valid: false,
    code: 'VALIDATION_FAILED',
  });
});

test('a session is renewed before its end, without the program noticing', async () => {
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  const { client, handshakes, validations } = program(application);
  try {
    expect(await client.validate(licenseKey)).toMatchObject({ valid: true });
    server.clock.step(830);
    expect(await client.validate(licenseKey)).toMatchObject({ valid: true });
    expect(handshakes()).toBe(1);
    server.clock.step(30);
    expect(await client.validate(licenseKey)).toMatchObject({ valid: true });
    expect(handshakes()).toBe(2);
    expect(validations()).toBe(3);
  } finally {
    server.clock.step(-860);
  }
});

test('a session from before a restart is opened again, once for many calls', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const start = () => startTestServer({ database: 'memory', env: { DATA_DIR: join(directory, 'data') } });
  const first = await start();
  const application = await (await createWorld(first)).createApplication();
  const { licenseKey } = await application.mintOne();
  let running = first;
  const { client, handshakes, validations } = program(application, {
    // The address of the service stays the same while its process changes.
    baseUrl: 'http://license.example.com',
    fetch: (input, init) => fetch(String(input).replace('http://license.example.com', running.baseUrl), init),
  });
  expect(await client.validate(licenseKey, { hwid: 'laptop' })).toMatchObject({ valid: true });
  await first.close();
  running = await start();
  onTestFinished(() => running.close());
  expect(await client.validate(licenseKey, { hwid: 'laptop' })).toMatchObject({ valid: true });
  expect(handshakes()).toBe(2);
  expect(validations()).toBe(3);
  expect(await client.validate(licenseKey, { hwid: 'desktop' })).toMatchObject({ code: 'HWID_MISMATCH' });
  expect(handshakes()).toBe(2);
}, 60_000);

test('an outdated program gets a failure at the handshake, and a verdict in an open session', async () => {
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  const { client } = program(application);
  expect(await client.validate(licenseKey)).toMatchObject({ valid: true });
  await application.settings({ version: '2.0.0', responseMessages: { APP_OUTDATED: 'Get version 2' } });
  expect(await program(application).client.validate(licenseKey)).toEqual({
    kind: 'failure',
    reason: 'server-rejected',
    code: 'APP_OUTDATED',
    message: 'Get version 2',
  });
  expect(await client.validate(licenseKey)).toEqual({
    kind: 'verdict',
    source: 'service',
    valid: false,
    code: 'APP_OUTDATED',
    message: 'Get version 2',
  });
  expect(await program(application, { version: '2.0.0' }).client.validate(licenseKey)).toMatchObject({
    valid: true,
  });
});

test('a disabled or deleted application is a failure, never a verdict on the license', async () => {
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  await application.settings({ status: 'disabled' });
  expect(await program(application).client.validate(licenseKey)).toMatchObject({
    kind: 'failure',
    reason: 'server-rejected',
    code: 'APP_DISABLED',
  });
  await application.settings({ status: 'active' });
  const { client } = program(application);
  expect(await client.validate(licenseKey)).toMatchObject({ valid: true });
  expect((await world.client.delete(`/api/v1/apps/${application.id}`)).status).toBe(200);
  expect(await client.validate(licenseKey)).toMatchObject({ kind: 'failure', code: 'APP_NOT_FOUND' });
});

test("another application's public key does not verify this one's signatures", async () => {
  const application = await world.createApplication();
  const other = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  const { client } = program(application, { publicKeyB64: other.publicKeyB64 });
  expect(await client.validate(licenseKey)).toMatchObject({ kind: 'failure', reason: 'untrusted-answer' });
});

test('a device with a wrong clock gets an error and uses no license', async () => {
  const application = await world.createApplication();
  const { id, licenseKey } = await application.mintOne();
  for (const seconds of [-120, 120]) {
    const { client } = program(application, { now: () => server.clock.now() + seconds * 1000 });
    expect(await client.validate(licenseKey)).toMatchObject({ kind: 'failure', reason: 'clock' });
  }
  expect(await storedLicense(server, id)).toMatchObject({ status: 'unused' });
});

test('concurrent calls share one session, and each gets its own result', async () => {
  const application = await world.createApplication();
  const licenses = await application.mint({ amount: 50 });
  const { client, handshakes, validations, ip } = program(application);
  const outcomes = await Promise.all(
    licenses.flatMap(({ licenseKey }, index) => [
      client.validate(licenseKey, { hwid: `device-${index}` }),
      client.validate(`not ${licenseKey}`),
    ]),
  );
  for (const [index, outcome] of outcomes.entries()) {
    expect(outcome).toMatchObject(
      index % 2 === 0 ? { valid: true } : { valid: false, code: 'LICENSE_NOT_FOUND' },
    );
  }
  expect(handshakes()).toBe(1);
  expect(validations()).toBe(100);
  const log = await storedLog(server, application.id, 'license_validated');
  expect(log).toHaveLength(100);
  expect(new Set(log.map((entry) => entry.ip))).toEqual(new Set([ip]));
});

test('a program over the limit is told when to retry', async () => {
  const application = await world.createApplication();
  const { client } = program(application);
  const outcomes = await Promise.all(Array.from({ length: 130 }, () => client.validate('no such key')));
  const limited = outcomes.filter((outcome) => outcome.kind === 'failure');
  expect(limited).toHaveLength(10);
  for (const outcome of limited) {
    expect(outcome).toMatchObject({ reason: 'rate-limited', code: 'RATE_LIMITED' });
    expect(outcome.retryAfterSeconds).toBeGreaterThanOrEqual(1);
    expect(outcome.retryAfterSeconds).toBeLessThanOrEqual(60);
  }
});

test('an unavailable service is a failure', async () => {
  const own = await startTestServer();
  onTestFinished(() => own.close());
  const application = await (await createWorld(own)).createApplication();
  const { licenseKey } = await application.mintOne();
  const { client } = program(application, { baseUrl: own.baseUrl });
  await own.deps.services.store.close();
  expect(await client.validate(licenseKey)).toMatchObject({
    kind: 'failure',
    reason: 'unavailable',
    code: 'UNAVAILABLE',
  });
});

const password = 'correct horse battery';

test('a user registers, logs in and upgrades, in one session', async () => {
  const application = await world.createApplication();
  const first = await application.mintOne({ durationSeconds: 3600, subscriptionTier: 1 });
  const second = await application.mintOne({ subscriptionTier: 2 });
  const { client, ip, handshakes } = program(application);
  const user = { username: 'ada', password, hwid: 'laptop' };
  const { licenseKey } = first;
  const outcomes = [
    await client.register({ ...user, email: 'ada@example.com', licenseKey }),
    await client.login(user),
    await client.upgrade({ username: 'ada', licenseKey: second.licenseKey, hwid: 'laptop' }),
  ];
  const stored = await storedUser(server, application, 'ada');
  for (const [index, outcome] of outcomes.entries()) {
    expect(outcome).toEqual({
      kind: 'verdict',
      source: 'service',
      valid: true,
      code: 'OK',
      message: 'License is valid.',
      sessionToken: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      expiresAt: expect.any(Date),
      user: { id: stored?.id, username: 'ada', email: 'ada@example.com', applicationId: application.id },
      license:
        index === 2
          ? { id: second.id, status: 'active', expiresAt: null, subscriptionTier: 2, ...nothingMore }
          : {
              id: first.id,
              status: 'active',
              expiresAt: expect.any(Date),
              subscriptionTier: 1,
              ...nothingMore,
            },
      session: { ip, hwid: 'laptop' },
    });
  }
  const sessions = await storedSessions(server, String(stored?.id));
  expect(sessions.map(({ expiresAt }) => expiresAt)).toEqual(
    outcomes.map((outcome) => outcome.kind === 'verdict' && outcome.valid && outcome.expiresAt),
  );
  expect(handshakes()).toBe(1);
});

test('a user without a license has none if the application requires none', async () => {
  const application = await world.createApplication();
  await application.settings({ requireLicenseToRegister: false });
  const { client, ip } = program(application);
  expect(await client.register({ username: 'ada', password })).toMatchObject({
    valid: true,
    user: { email: null },
    license: null,
    session: { ip, hwid: null },
  });
  expect(await client.login({ username: 'ada', password })).toMatchObject({ valid: true, license: null });
});

test("a refusal about a user is a verdict with the developer's message", async () => {
  const application = await world.createApplication();
  await application.settings({ responseMessages: { INVALID_CREDENTIALS: 'Who are you?' } });
  const { licenseKey } = await application.mintOne();
  const { client } = program(application);
  const refused = (code: string) => ({ kind: 'verdict', source: 'service', valid: false, code });
  expect(await client.register({ username: 'ada', password })).toMatchObject(refused('LICENSE_REQUIRED'));
  expect(await client.register({ username: 'ada', password, licenseKey })).toMatchObject({ valid: true });
  expect(await client.register({ username: 'ada', password, licenseKey })).toMatchObject(
    refused('USERNAME_TAKEN'),
  );
  expect(await client.register({ username: 'a b', password, licenseKey })).toMatchObject(
    refused('VALIDATION_FAILED'),
  );
  expect(await client.login({ username: 'ada', password: 'wrong' })).toEqual({
    ...refused('INVALID_CREDENTIALS'),
    message: 'Who are you?',
  });
  expect(await client.upgrade({ username: 'eve', licenseKey })).toMatchObject(refused('USER_NOT_FOUND'));
  expect(await client.upgrade({ username: 'ada', licenseKey })).toMatchObject(refused('TIER_NOT_HIGHER'));
});

test('a program over the limit for users is told when to retry', async () => {
  const application = await world.createApplication();
  const { client } = program(application);
  const attempts = Array.from({ length: 32 }, () => client.upgrade({ username: 'eve', licenseKey: 'x' }));
  const limited = (await Promise.all(attempts)).filter((outcome) => outcome.kind === 'failure');
  expect(limited).toHaveLength(2);
  for (const outcome of limited)
    expect(outcome).toMatchObject({ reason: 'rate-limited', code: 'RATE_LIMITED' });
});

test.each(['11028-06-01T00:00:00Z', '294270-01-01T00:00:00Z'])(
  'a license with the expiry %s of an earlier version is valid until the end of the year 9999',
  async (expiresAt) => {
    const application = await world.createApplication();
    const { id, licenseKey } = await application.mintOne({ durationSeconds: 3600 });
    const { client } = program(application);
    await client.validate(licenseKey, { hwid: 'laptop' });
    await sql(server, 'UPDATE licenses SET expires_at = $2 WHERE id = $1', [id, expiresAt]);
    await server.deps.services.changes.tell([{ cache: 'license-of', keys: [application.id] }]);
    const outcome = await program(application).client.validate(licenseKey, { hwid: 'laptop' });
    expect(outcome).toMatchObject({ valid: true, expiresAt: new Date('9999-12-31T23:59:59Z') });
    const listed = await world.client.get(`/api/v1/apps/${application.id}/licenses`);
    expect(listed.body).toMatchObject({ licenses: [{ id, expiresAt: '9999-12-31T23:59:59.000Z' }] });
  },
);
