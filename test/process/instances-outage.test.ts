import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { logsAnswer, noLimits } from '../api/support.ts';
import { ApiClient } from '../setup/api-client.ts';
import { type Relay, startRelay } from '../setup/relay.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type SeededApplication, type World } from '../setup/world.ts';

const patient = { timeout: 20_000, interval: 20 };

/** An instance that connects to PostgreSQL through a relay, so that only it can lose the connection. */
async function startBehindRelay(
  beside: TestServer,
  env: Record<string, string>,
): Promise<{ server: TestServer; relay: Relay }> {
  const { DATABASE_URL = '' } = beside.databaseEnv;
  const relay = await startRelay(DATABASE_URL);
  const server = await startTestServer({ beside, env: { ...noLimits, ...env, DATABASE_URL: relay.url } });
  return { server, relay };
}

describe.skipIf(process.env.TEST_DATABASE_URL === undefined)('while PostgreSQL is unavailable', () => {
  let whole: TestServer;
  beforeAll(async () => {
    whole = await startTestServer({ database: 'server', env: noLimits });
  });
  afterAll(() => whole.close());

  let server: TestServer;
  let relay: Relay;
  let world: World;
  let application: SeededApplication;
  let session: SealedSession;
  const start = async (env: Record<string, string> = {}) => {
    ({ server, relay } = await startBehindRelay(whole, env));
    session = await openSession(server, application);
  };
  beforeEach(async () => {
    world = await createWorld(whole);
    application = await world.createApplication();
  });
  afterEach(async () => {
    relay.restore();
    const { securityLog } = server.deps.services;
    await vi.waitFor(async () => {
      await securityLog.flush();
      expect(securityLog.oldestWaiting).toEqual([]);
    }, patient);
    await server.close();
    await relay.close();
  });

  const post = (members: Record<string, unknown>, client = session.client) =>
    client.post(validatePath, session.seal(session.inner(members)));
  const statusOf = async (members: Record<string, unknown>) => (await post(members)).status;
  /** Validates twice: the first request binds the license, the second one caches it. */
  async function cached(members: Record<string, unknown>): Promise<void> {
    // Else it may read of the mint, on the other instance, only after it has cached the license.
    await whole.deps.services.changes.waitForOthers();
    for (const _time of ['first', 'second'])
      expect(await session.ask(validatePath, members)).toMatchObject({ code: 'OK' });
  }

  test.each(['cut', 'pause'] as const)(
    'a license that is cached and bound is validated from any address until it expires (%s)',
    async (loss) => {
      await start();
      const { licenseKey } = await application.mintOne({ durationSeconds: 120, subscriptionTier: 3 });
      await cached({ licenseKey, hwid: 'device' });
      relay[loss]();
      const elsewhere = new ApiClient(server.baseUrl);
      for (const client of [session.client, elsewhere]) {
        const answer = session.open(await post({ licenseKey, hwid: 'device' }, client));
        expect(answer).toMatchObject({ code: 'OK', subscriptionTier: 3 });
      }
      expect(await session.ask(validatePath, { licenseKey, hwid: 'other' })).toMatchObject({
        code: 'HWID_MISMATCH',
      });
      expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });
      expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });
      server.clock.step(120);
      expect(await session.ask(validatePath, { licenseKey, hwid: 'device' })).toMatchObject({
        code: 'EXPIRED',
      });
    },
  );

  test('a client can open a session, and its log entries are written when PostgreSQL is back', async () => {
    await start();
    const { id, licenseKey } = await application.mintOne();
    await cached({ licenseKey });
    await server.deps.services.securityLog.flush();
    relay.cut();
    session = await openSession(server, application);
    for (let count = 0; count < 5; count++) expect(await statusOf({ licenseKey })).toBe(200);
    relay.restore();
    await vi.waitFor(async () => {
      const answer = await world.client.get(`/api/v1/apps/${application.id}/logs?limit=200`);
      const { logs } = logsAnswer.parse(answer.body);
      expect(logs.filter(({ event }) => event === 'license_validated')).toHaveLength(7);
    }, patient);
    const stored = await whole.deps.services.database.prisma.license.findUniqueOrThrow({ where: { id } });
    expect(stored.lastIp).toBe(session.client.ip);
  });

  test('requests that need a write or an uncached license are refused', async () => {
    await start();
    const [unused, unbound, unknown] = await application.mint({ amount: 3 });
    await cached({ licenseKey: unbound?.licenseKey });
    const other = await openSession(server, await world.createApplication());
    // With another application, so that the license is cached in its unused state.
    for (const _time of ['first', 'second'])
      await other.ask(validatePath, { licenseKey: unused?.licenseKey });
    relay.cut();
    const refused = [
      { licenseKey: unused?.licenseKey },
      { licenseKey: unbound?.licenseKey, hwid: 'device' },
      { licenseKey: unknown?.licenseKey },
      { licenseKey: 'never minted' },
    ];
    for (const members of refused) {
      const { status, body } = await post(members);
      expect({ status, body }).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } });
    }
    const rows = await whole.deps.services.database.prisma.license.findMany({
      where: { id: { in: [unused?.id ?? '', unbound?.id ?? ''] } },
      select: { status: true, hwid: true },
    });
    expect(rows).toHaveLength(2);
    expect(rows).toContainEqual({ status: 'unused', hwid: null });
    expect(rows).toContainEqual({ status: 'active', hwid: null });
    relay.restore();
    await vi.waitFor(async () => {
      for (const members of refused) expect(await statusOf(members)).toBe(200);
    }, patient);
  });

  test('cached licenses are refused after STALE_IF_DOWN_SECONDS, until PostgreSQL is back', {
    tags: 'slow',
  }, async () => {
    await start({ STALE_IF_DOWN_SECONDS: '1' });
    const { licenseKey } = await application.mintOne();
    await cached({ licenseKey });
    relay.cut();
    await vi.waitFor(async () => expect(await statusOf({ licenseKey })).toBe(503), patient);
    for (let count = 0; count < 5; count++) expect(await statusOf({ licenseKey })).toBe(503);
    relay.restore();
    await vi.waitFor(async () => expect(await statusOf({ licenseKey })).toBe(200), patient);
  });

  test('cached licenses are refused at once if STALE_IF_DOWN_SECONDS is 0', { tags: 'slow' }, async () => {
    await start({ STALE_IF_DOWN_SECONDS: '0' });
    const { licenseKey } = await application.mintOne();
    await cached({ licenseKey });
    relay.cut();
    await vi.waitFor(async () => expect(await statusOf({ licenseKey })).toBe(503), patient);
    relay.restore();
    await vi.waitFor(async () => expect(await statusOf({ licenseKey })).toBe(200), patient);
  });
});
