import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type RateLimitName, rateLimitDefaults } from '../../src/ephemeral/rate-limits.ts';
import { bansAnswer } from '../api/support.ts';
import { freePort, hasRedisServer, OwnRedis } from '../ephemeral/support.ts';
import { type ApiAnswer, ApiClient, cookieOf, randomIp } from '../setup/api-client.ts';
import { type Relay, startRelay } from '../setup/relay.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { createWorld, type SeededApplication, type SeededLicense, type World } from '../setup/world.ts';

// Three instances on one PostgreSQL server and one Redis. Streams across instances are tested by
// test/graphql/subscription-instances.test.ts, the loss of PostgreSQL by instances-outage.test.ts.
const possible = process.env.TEST_DATABASE_URL !== undefined && hasRedisServer;
const patient = { timeout: 20_000, interval: 5 };

describe.skipIf(!possible)('with three instances,', () => {
  let redis: OwnRedis;
  /** Relays the third instance's connection to Redis, so that only it can lose Redis. */
  let relay: Relay;
  let one: TestServer;
  let two: TestServer;
  let three: TestServer;
  let all: readonly TestServer[];
  beforeAll(async () => {
    redis = new OwnRedis(await freePort(), []);
    await redis.start();
    relay = await startRelay(redis.url);
    one = await startTestServer({ database: 'server', env: { REDIS_URL: redis.url } });
    two = await startTestServer({ beside: one, env: { REDIS_URL: redis.url } });
    three = await startTestServer({ beside: one, env: { REDIS_URL: relay.url } });
    all = [one, two, three];
  });
  afterAll(async () => {
    await three.close();
    await two.close();
    await one.close();
    await relay.close();
    await redis.kill();
  });

  let world: World;
  let application: SeededApplication;
  let license: SeededLicense;
  beforeEach(async () => {
    world = await createWorld(one);
    application = await world.createApplication();
    license = await application.mintOne({ durationSeconds: 3_600, subscriptionTier: 1 });
  });
  afterEach(() => vi.restoreAllMocks());

  /** High limits, so that repeated requests do not reach them. */
  const anywhere = (server: TestServer) => new ApiClient(server.baseUrl, { ip: randomIp() });

  /** How many requests were refused because PostgreSQL or Redis did not answer in time. They do not count towards a limit. */
  let unavailable = 0;

  /**
   * The result while Redis is available. On an overloaded machine, an instance may treat a Redis that has not answered
   * for a second as lost, and correctly refuses or counts alone: then everything is repeated.
   */
  async function undisturbed<Result>(work: () => Promise<Result>): Promise<Result> {
    const lost = /Redis at \S+ (is unavailable|did not count)/;
    const losses = () =>
      unavailable + all.flatMap(({ logLines }) => logLines.filter((line) => lost.test(line))).length;
    for (;;) {
      await vi.waitFor(() => {
        for (const { deps } of all) expect(deps.services.store.isAvailable()).toBe(true);
      }, patient);
      const before = losses();
      const result = await work();
      if (losses() === before) return result;
    }
  }

  /** Sends an envelope of a session that may have been opened on another instance. */
  async function send(server: TestServer, envelope: unknown): Promise<{ status: number; code?: string }> {
    const { status, body } = await anywhere(server).post(validatePath, envelope);
    return { status, code: (body as { code?: string }).code };
  }

  describe('an envelope is accepted by only one instance,', () => {
    test('when all receive it at the same time', async () => {
      const session = await openSession(two, application);
      const answers = await undisturbed(() => {
        const envelopes = Array.from({ length: 60 }, () => session.seal(session.inner(license)));
        return Promise.all(
          envelopes.map((envelope) => Promise.all(all.map((server) => send(server, envelope)))),
        );
      });
      for (const each of answers) {
        expect(each.map(({ status, code }) => `${status} ${code}`).sort()).toEqual([
          '200 undefined',
          '400 REPLAY',
          '400 REPLAY',
        ]);
      }
    }, 120_000);

    test('the one that receives it first', async () => {
      const session = await openSession(three, application);
      for (const first of all) {
        const envelope = session.seal(session.inner(license));
        expect((await send(first, envelope)).status).toBe(200);
        for (const server of all)
          expect(await send(server, envelope)).toEqual({ status: 400, code: 'REPLAY' });
      }
    });

    test('and by none that cannot reach Redis', async () => {
      const session = await openSession(three, application);
      const seen = session.seal(session.inner(license));
      expect((await send(one, seen)).status).toBe(200);
      relay.cut();
      try {
        for (const envelope of [seen, session.seal(session.inner(license))]) {
          expect(await send(three, envelope)).toEqual({ status: 503, code: 'UNAVAILABLE' });
        }
      } finally {
        relay.restore();
      }
      await vi.waitFor(async () => {
        expect((await send(three, session.seal(session.inner(license)))).status).toBe(200);
      }, patient);
      expect(await send(three, seen)).toEqual({ status: 400, code: 'REPLAY' });
    });
  });

  describe('a limit is shared by all, over REST and GraphQL:', () => {
    type Ask = (client: ApiClient) => Promise<boolean>;
    /** True if the limit admitted the request, whatever the response. */
    const rest =
      (method: string, path: string, body?: unknown): Ask =>
      async (client) => {
        const { status } = await client.send(method, `/api/v1${path}`, body);
        if (status === 503) unavailable += 1;
        return status !== 429;
      };
    const graphql =
      (document: string, variables: Record<string, unknown> = {}): Ask =>
      async (client) => {
        const { status, body } = await client.post('/graphql', { query: document, variables });
        const text = JSON.stringify(body);
        if (text.includes('"UNAVAILABLE"')) unavailable += 1;
        return status !== 429 && !text.includes('"RATE_LIMITED"');
      };
    const wrong = 'not the password';
    const nobody = '01a1f9ca-93fa-7499-96a1-742319220050';
    const badBearer =
      (ask: Ask): Ask =>
      (client) =>
        ask(new ApiClient(client.baseUrl, { ip: client.ip, bearer: 'rubbish' }));

    const ways: Record<Exclude<RateLimitName, 'licenseRows' | 'answerKilobytes'>, readonly Ask[]> = {
      auth: [
        rest('POST', '/auth/login', {}),
        rest('POST', '/auth/register', {}),
        graphql('mutation ($i: RegisterInput!) { register(input: $i) { developer { id } } }', {
          i: { email: '', password: wrong, name: '' },
        }),
      ],
      session: [rest('POST', '/session/init', {})],
      validate: [rest('POST', '/licenses/validate', {})],
      clientAuth: [
        rest('POST', '/client/register', {}),
        rest('POST', '/client/login', {}),
        rest('POST', '/client/upgrade', {}),
      ],
      appCreate: [
        rest('POST', '/apps/create', {}),
        graphql(
          'mutation ($i: CreateApplicationInput!) { createApplication(input: $i) { sdkHint { appId } } }',
          {
            i: { name: '' },
          },
        ),
      ],
      licenseCreate: [
        rest('POST', '/licenses/create', {}),
        graphql('mutation ($i: CreateLicensesInput!) { createLicenses(input: $i) { warning } }', {
          i: { applicationId: '', amount: 0, durationSeconds: 0 },
        }),
      ],
      blindCreate: [
        rest('POST', '/licenses/create-blind', {}),
        graphql(
          'mutation ($i: CreateBlindLicensesInput!) { createBlindLicenses(input: $i) { keys { id } } }',
          {
            i: { applicationId: '', keys: [] },
          },
        ),
      ],
      accountSensitive: [
        rest('PATCH', '/account/profile', {}),
        rest('POST', '/account/mode', {}),
        graphql('mutation ($i: UpdateProfileInput!) { updateProfile(input: $i) { developer { id } } }', {
          i: { name: '', password: wrong },
        }),
      ],
      webhookSend: [
        rest('POST', `/webhooks/${nobody}/test`, {}),
        graphql('mutation ($i: TestWebhookInput!) { testWebhook(input: $i) { delivery { id } } }', {
          i: { id: nobody },
        }),
      ],
      apiKeyAuth: [badBearer(rest('GET', '/auth/me')), badBearer(graphql('{ me { id } }'))],
    };

    // licenseRows and answerKilobytes do not count requests: test/ephemeral and test/api show that it is shared.
    const { licenseRows: _, answerKilobytes: __, ...ofRequests } = rateLimitDefaults;
    test.each(Object.entries(ofRequests))(
      '%s',
      async (name, limit) => {
        const { email, password } = world.developer;
        const cookie = cookieOf(await world.client.post('/api/v1/auth/login', { email, password })) ?? '';
        const asks = ways[name as keyof typeof ways];
        const allowed = await undisturbed(() => {
          const ip = randomIp();
          return Promise.all(
            Array.from({ length: limit + 30 }, (_, turn) => {
              const { baseUrl } = all[turn % 3] ?? one;
              const ask = asks[Math.floor(turn / 3) % asks.length];
              return ask?.(new ApiClient(baseUrl, { ip, cookie }));
            }),
          );
        });
        expect(allowed.filter((isAllowed) => isAllowed === true)).toHaveLength(limit);
        expect(allowed.filter((isAllowed) => isAllowed === false)).toHaveLength(30);
      },
      120_000,
    );
  });

  /** A change, with the result of validate on any instance before and after it. */
  interface Change {
    readonly hwid?: string;
    readonly before?: Record<string, unknown>;
    readonly prepare?: () => Promise<unknown>;
    readonly make: () => Promise<ApiAnswer>;
    readonly after: Record<string, unknown>;
    /** The hwid that is sent after the change, if it differs. */
    readonly hwidAfter?: string;
  }
  const ok = { code: 'OK' };
  const post = (path: string, body?: unknown) => world.client.post(`/api/v1${path}`, body);
  const settings = (fields: Record<string, unknown>) =>
    world.client.patch(`/api/v1/apps/${application.id}/settings`, fields);
  const makeUser = async (): Promise<string> => {
    const answer = await post(`/apps/${application.id}/users`, {
      username: 'grace',
      password: 'a user password',
      licenseKey: license.licenseKey,
    });
    return (answer.body as { user: { id: string } }).user.id;
  };
  let userId = '';
  const changes: Record<string, Change> = {
    'a ban': { make: () => post(`/licenses/${license.id}/ban`), after: { code: 'BANNED' } },
    'a ban of the device': {
      hwid: 'device',
      make: () => post(`/licenses/${license.id}/ban`, { scope: 'hwid' }),
      after: { code: 'HWID_BANNED' },
    },
    'a ban that is lifted': {
      hwid: 'device',
      prepare: async () => {
        const { id, licenseKey } = await application.mintOne();
        const session = await openSession(one, application);
        await session.ask(validatePath, { licenseKey, hwid: 'device' });
        await post(`/licenses/${id}/ban`, { scope: 'hwid' });
      },
      before: { code: 'HWID_BANNED' },
      make: async () => {
        const path = `/api/v1/apps/${application.id}/bans`;
        const [ban] = bansAnswer.parse((await world.client.get(path)).body).bans;
        return world.client.delete(`${path}/${ban?.id}`);
      },
      after: ok,
    },
    'another tier': {
      before: { ...ok, subscriptionTier: 1 },
      make: () => post(`/licenses/${license.id}/tier`, { subscriptionTier: 8 }),
      after: { ...ok, subscriptionTier: 8 },
    },
    'a reset of the device': {
      hwid: 'old',
      make: () => post(`/licenses/${license.id}/reset-hwid`),
      hwidAfter: 'new',
      after: ok,
    },
    "a reset of a user's device": {
      hwid: 'old',
      prepare: async () => {
        userId = await makeUser();
      },
      make: () => post(`/apps/${application.id}/users/${userId}/reset-hwid`),
      hwidAfter: 'new',
      after: ok,
    },
    'an extension': {
      make: () => post(`/apps/${application.id}/licenses/extend`, { seconds: 3_600 }),
      after: { ...ok, extended: true },
    },
    'a deletion': {
      make: () => world.client.delete(`/api/v1/licenses/${license.id}`),
      after: { code: 'LICENSE_NOT_FOUND' },
    },
    'the end of the application': {
      make: () => settings({ status: 'disabled' }),
      after: { code: 'APP_DISABLED' },
    },
    'another version': { make: () => settings({ version: '2.0.0' }), after: { code: 'APP_OUTDATED' } },
    'the lock being lifted': {
      hwid: 'device',
      make: () => settings({ hwidLockEnabled: false }),
      hwidAfter: 'another',
      after: ok,
    },
  };

  async function ask(server: TestServer, session: SealedSession, hwid?: string) {
    const envelope = session.seal(session.inner({ licenseKey: license.licenseKey, hwid }));
    const answer = session.open(await anywhere(server).post(validatePath, envelope));
    return { ...answer, extended: Date.parse(String(answer.expiresAt)) > three.clock.now() + 3_600_000 };
  }

  /** How long it took until an instance saw a change, and how many requests did not see it. */
  interface Seen {
    readonly milliseconds: number;
    readonly inVain: number;
  }

  /** Makes a change on the first instance and waits until both others see it. */
  async function seenElsewhere({
    prepare,
    before = ok,
    make,
    after,
    hwid,
    hwidAfter = hwid,
  }: Change): Promise<Seen[]> {
    const session = await openSession(one, application);
    await prepare?.();
    // The first request binds the license, the second one caches it.
    for (const server of [two, three, two, three])
      expect(await ask(server, session, hwid)).toMatchObject(before);
    const answer = await make();
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const madeAt = performance.now();
    const seen = await Promise.all(
      [two, three].map(async (server) => {
        let asked = 0;
        await vi.waitFor(async () => {
          asked += 1;
          expect(await ask(server, session, hwidAfter)).toMatchObject(after);
        }, patient);
        return { milliseconds: performance.now() - madeAt, inVain: asked - 1 };
      }),
    );
    // An instance that has seen the change never returns the old result again.
    for (let turn = 0; turn < 5; turn++) {
      for (const server of [two, three]) expect(await ask(server, session, hwidAfter)).toMatchObject(after);
    }
    return seen;
  }

  describe.each(['Redis alone', 'PostgreSQL alone'] as const)(
    'a change on one takes effect on the others through %s:',
    (channel) => {
      const looks: Seen[] = [];
      beforeEach(async () => {
        if (channel === 'Redis alone') {
          await sql(one, 'CREATE RULE silent AS ON INSERT TO cache_changes DO INSTEAD NOTHING');
          return () => sql(one, 'DROP RULE silent ON cache_changes');
        }
        // As if the instance is killed between its commit and its message.
        const { store } = one.deps.services;
        const publish = store.publish.bind(store);
        vi.spyOn(store, 'publish').mockImplementation(async (name, message) => {
          if (name !== 'changes') await publish(name, message);
        });
      });
      afterAll(() => {
        const times = looks.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
        const [middle, longest] = [times[times.length >> 1], times.at(-1)].map((time) => time?.toFixed(0));
        const atOnce = looks.filter(({ inVain }) => inVain === 0).length;
        process.stderr.write(
          `Through ${channel}, ${atOnce} of ${looks.length} times the next validate saw a change; answered after ${middle} ms, at most ${longest}.\n`,
        );
      });

      test.each(Object.entries(changes))('%s', async (_what, change) => {
        looks.push(...(await seenElsewhere(change)));
      });
    },
  );

  describe('one that has lost Redis serves nothing from its cache', () => {
    afterEach(() => relay.restore());
    const sessionInit = async () => {
      const { status, body } = await anywhere(three).post('/api/v1/session/init', {
        appId: application.id,
        clientNonceB64: Buffer.alloc(32, 7).toString('base64'),
        clientVersion: application.version,
      });
      return { status, code: (body as { code?: string }).code };
    };

    test('until it has reconnected and reloaded', async () => {
      // Disables the channel that is not lost.
      await sql(one, 'CREATE RULE silent AS ON INSERT TO cache_changes DO INSTEAD NOTHING');
      try {
        const session = await openSession(three, application);
        for (const _time of ['first', 'second']) expect(await ask(three, session)).toMatchObject(ok);
        relay.cut();
        await vi.waitFor(() => expect(three.deps.services.store.isAvailable()).toBe(false), patient);
        await post(`/licenses/${license.id}/ban`);
        await settings({ status: 'disabled' });
        // A handshake does not use the replay guard, so it shows what is read while Redis is unavailable.
        expect(await sessionInit()).toEqual({ status: 403, code: 'APP_DISABLED' });
        await settings({ status: 'active' });
        expect(await sessionInit()).toMatchObject({ status: 200 });
        expect(await send(three, session.seal(session.inner(license)))).toEqual({
          status: 503,
          code: 'UNAVAILABLE',
        });
        relay.restore();
        await vi.waitFor(async () => {
          const { status } = await send(three, session.seal(session.inner(license)));
          expect(status).toBe(200);
        }, patient);
        for (let turn = 0; turn < 10; turn++)
          expect(await ask(three, session)).toMatchObject({ code: 'BANNED' });
      } finally {
        await sql(one, 'DROP RULE silent ON cache_changes');
      }
    });

    test('if its connection hangs instead of closing', async () => {
      for (const _time of ['first', 'second']) expect(await sessionInit()).toMatchObject({ status: 200 });
      relay.pause();
      await settings({ status: 'disabled' });
      await vi.waitFor(async () => {
        expect(await sessionInit()).toEqual({ status: 403, code: 'APP_DISABLED' });
      }, patient);
      for (let turn = 0; turn < 10; turn++) {
        expect(await sessionInit()).toEqual({ status: 403, code: 'APP_DISABLED' });
      }
    });

    test('and enforces its limits alone', async () => {
      relay.cut();
      await vi.waitFor(() => expect(three.deps.services.store.isAvailable()).toBe(false), patient);
      const client = anywhere(three);
      const answers = await Promise.all(
        Array.from({ length: 40 }, () => client.post('/api/v1/auth/login', {})),
      );
      expect(answers.filter(({ status }) => status !== 429)).toHaveLength(rateLimitDefaults.auth);
      relay.restore();
      await vi.waitFor(() => expect(three.deps.services.store.isAvailable()).toBe(true), patient);
    });
  });
});
