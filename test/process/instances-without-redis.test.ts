import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { bansAnswer, noLimits } from '../api/support.ts';
import { createApiKey } from '../graphql/support.ts';
import { type ApiAnswer, ApiClient, cookieOf } from '../setup/api-client.ts';
import { type EventStream, openEventStream } from '../setup/event-stream.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type SeededApplication, type SeededLicense, type World } from '../setup/world.ts';

const patient = { timeout: 20_000, interval: 20 };

// Two instances share only a PostgreSQL server.
describe.skipIf(process.env.TEST_DATABASE_URL === undefined)('two instances without Redis:', () => {
  let here: TestServer;
  let there: TestServer;
  let world: World;
  let application: SeededApplication;
  let license: SeededLicense;
  /** The result of client software that asks the other instance. */
  let session: SealedSession;
  beforeEach(async () => {
    here = await startTestServer({ database: 'server', env: noLimits });
    there = await startTestServer({ beside: here, env: noLimits });
    world = await createWorld(here);
    application = await world.createApplication();
    license = await application.mintOne({ durationSeconds: 3_600, subscriptionTier: 1 });
    session = await openSession(there, application);
  });
  afterEach(async () => {
    await there.close();
    await here.close();
  });

  const post = (path: string, body?: unknown) => world.client.post(`/api/v1${path}`, body);
  const ask = (hwid = 'device') => session.ask(validatePath, { licenseKey: license.licenseKey, hwid });

  interface Change {
    readonly make: () => Promise<ApiAnswer>;
    readonly after: Record<string, unknown>;
  }
  const changes: Record<string, Change> = {
    'a ban': { make: () => post(`/licenses/${license.id}/ban`), after: { code: 'BANNED' } },
    'a ban of the device': {
      make: () => post(`/licenses/${license.id}/ban`, { scope: 'hwid' }),
      after: { code: 'HWID_BANNED' },
    },
    'a suspension': { make: () => post(`/licenses/${license.id}/suspend`), after: { code: 'SUSPENDED' } },
    'a new key': {
      make: () => post(`/licenses/${license.id}/rotate-key`, { overlapSeconds: 0 }),
      after: { code: 'LICENSE_NOT_FOUND' },
    },
    'other entitlements': {
      make: () => world.client.patch(`/api/v1/licenses/${license.id}`, { entitlements: { seats: 5 } }),
      after: { code: 'OK', entitlements: { seats: 5 } },
    },
    'another tier': {
      make: () => post(`/licenses/${license.id}/tier`, { subscriptionTier: 8 }),
      after: { code: 'OK', subscriptionTier: 8 },
    },
    'an extension': {
      make: () => post(`/apps/${application.id}/licenses/extend`, { seconds: 3_600 }),
      after: { code: 'OK', isExtended: true },
    },
    'the deletion of a license': {
      make: () => world.client.delete(`/api/v1/licenses/${license.id}`),
      after: { code: 'LICENSE_NOT_FOUND' },
    },
    'the end of an application': {
      make: () => world.client.patch(`/api/v1/apps/${application.id}/settings`, { status: 'disabled' }),
      after: { code: 'APP_DISABLED' },
    },
  };
  test.each(Object.entries(changes))(
    '%s on one instance takes effect on the other',
    async (_what, { make, after }) => {
      const first = await ask();
      for (const _time of ['second', 'third']) expect(await ask()).toMatchObject({ code: 'OK' });
      const answer = await make();
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      await vi.waitFor(async () => {
        const { expiresAt, ...verdict } = await ask();
        const isExtended = Date.parse(String(expiresAt)) > Date.parse(String(first.expiresAt));
        expect({ ...verdict, isExtended }).toMatchObject(after);
      }, patient);
    },
  );

  test.each(['application', 'account'])('deleting an %s ends its sessions on both', async (what) => {
    for (const _time of ['first', 'second']) expect(await ask()).toMatchObject({ code: 'OK' });
    const answer =
      what === 'application'
        ? await world.client.delete(`/api/v1/apps/${application.id}`)
        : await post('/account/delete', { password: world.developer.password, confirm: 'DELETE' });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    await vi.waitFor(async () => {
      const refused = await session.client.post(
        validatePath,
        session.seal(session.inner({ licenseKey: license.licenseKey })),
      );
      expect(refused.status).not.toBe(200);
    }, patient);
  });

  test('a replaced key ends with its overlap on both, and a ban reaches it before', async () => {
    for (const _time of ['first', 'second']) expect(await ask()).toMatchObject({ code: 'OK' });
    const rotated = z
      .object({ licenseKey: z.string() })
      .parse((await post(`/licenses/${license.id}/rotate-key`, { overlapSeconds: 60 })).body);
    const asNew = async () =>
      (await session.ask(validatePath, { licenseKey: rotated.licenseKey, hwid: 'device' })).code;
    await vi.waitFor(async () => expect(await asNew()).toBe('OK'), patient);
    expect(await ask()).toMatchObject({ code: 'OK' });
    await post(`/licenses/${license.id}/ban`);
    await vi.waitFor(
      async () => expect([(await ask()).code, await asNew()]).toEqual(['BANNED', 'BANNED']),
      patient,
    );
    await post(`/licenses/${license.id}/unban`);
    await vi.waitFor(async () => expect([(await ask()).code, await asNew()]).toEqual(['OK', 'OK']), patient);
    there.clock.step(60);
    expect((await ask()).code).toBe('LICENSE_NOT_FOUND');
    expect(await asNew()).toBe('OK');
  });

  test('removing a ban on one takes effect on the other', async () => {
    await ask();
    await post(`/licenses/${license.id}/ban`, { scope: 'hwid' });
    await vi.waitFor(async () => expect((await ask()).code).toBe('HWID_BANNED'), patient);
    const path = `/api/v1/apps/${application.id}/bans`;
    const [ban] = bansAnswer.parse((await world.client.get(path)).body).bans;
    await world.client.delete(`${path}/${ban?.id}`);
    await vi.waitFor(async () => expect((await ask()).code).toBe('BANNED'), patient);
  });

  test.each([1, 1_001])(
    '%i keys that were unknown are valid on the other after they are minted',
    async (amount) => {
      const guesses = [...'ABCDEFGH'].map((letter) => `TEST-${letter}AAA`);
      const asked = async (licenseKey: string) => (await session.ask(validatePath, { licenseKey })).code;
      for (const guess of guesses)
        for (const _time of ['first', 'second']) expect(await asked(guess)).toBe('LICENSE_NOT_FOUND');
      const hashes = [...guesses, ...Array.from({ length: amount }, (_, index) => `OTHER-${index}`)];
      const answer = await post('/licenses/create-blind', {
        applicationId: application.id,
        keys: hashes.map((key) => ({
          licenseKeyHash: createHash('sha256').update(key).digest('hex'),
          licenseKeyPrefix: key.slice(0, 3),
          durationSeconds: 0,
        })),
      });
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      await vi.waitFor(async () => {
        expect(await Promise.all(guesses.map(asked))).toEqual(guesses.map(() => 'OK'));
      }, patient);
    },
  );

  describe('a stream on the other', () => {
    const codesOf = ({ errors = [] }: { errors?: readonly { extensions: { code: string } }[] | undefined }) =>
      errors.map(({ extensions }) => extensions.code);
    const loggedIn = async (): Promise<string> => {
      here.clock.step(1);
      const { email, password } = world.developer;
      return cookieOf(await post('/auth/login', { email, password })) ?? '';
    };
    async function follow(by: { cookie: string } | { bearer: string }): Promise<EventStream> {
      const stream = await openEventStream(new ApiClient(there.baseUrl, by), {
        query: 'subscription ($id: ID!) { securityLog(applicationId: $id) { event } }',
        variables: { id: application.id },
      });
      onTestFinished(() => stream.close());
      return stream;
    }
    // Longer than any wait in this file, so that streams must react to notifications and not to a slow poll.
    beforeEach(() => {
      Object.assign(there.deps.services.securityLogFeed, { pollMilliseconds: 60_000 });
    });

    test('ends when its own cookie logs out, and not when another does', async () => {
      const [cookie, another] = [await loggedIn(), await loggedIn()];
      const [ended, stays] = [await follow({ cookie }), await follow({ cookie: another })];
      await world.client.with({ cookie }).post('/api/v1/auth/logout');
      expect((await ended.rest()).map(codesOf)).toEqual([['UNAUTHENTICATED']]);
      await application.settings({ hwidLockEnabled: true });
      expect(await stays.take(1)).toEqual([{ event: 'application_settings_changed' }]);
    });

    test('ends when its API key is revoked, or its application deleted', async () => {
      const key = await createApiKey(world.client);
      const byKey = await follow({ bearer: key.apiKey });
      await post(`/account/api-keys/${key.id}/revoke`);
      expect((await byKey.rest()).map(codesOf)).toEqual([['UNAUTHENTICATED']]);
      const stream = await follow({ cookie: await loggedIn() });
      await world.client.delete(`/api/v1/apps/${application.id}`);
      expect((await stream.rest()).map(codesOf)).toEqual([['APP_NOT_FOUND']]);
    });

    test('delivers entries of requests to the first', async () => {
      const stream = await follow({ cookie: await loggedIn() });
      const elsewhere = await openSession(here, application);
      await elsewhere.ask(validatePath, { licenseKey: license.licenseKey });
      expect(await stream.take(1)).toEqual([{ event: 'license_validated' }]);
    });
  });

  test('each logs at its start what it does not share', () => {
    for (const { logLines } of [here, there]) {
      expect(
        logLines.filter((line) => /REDIS_URL is not set.*replay protection and rate limits/.test(line)),
      ).toHaveLength(1);
    }
  });
});

test('an instance on an embedded database logs nothing about Redis', async () => {
  const server = await startTestServer({ database: 'memory' });
  try {
    expect(server.logLines.join('')).not.toContain('REDIS_URL');
  } finally {
    await server.close();
  }
});
