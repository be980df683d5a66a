/** @module-tag slow */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { storedLicense, storedLog } from '../setup/stored.ts';
import { createWorld, type SeededApplication, type SeededLicense, type World } from '../setup/world.ts';

// The embedded database has one connection and hides every race (design §3), so these need a server.
const haveServer = process.env.TEST_DATABASE_URL !== undefined;
const projectOfServer = process.env.TEST_DATABASE_KIND === 'server';
if (!haveServer) process.stderr.write('Skipped: races, because TEST_DATABASE_URL is not set.\n');

let server: TestServer;
let world: World;

const devices = 30;
const rounds = 20;

/** As many sessions as devices, each from a separate address. */
const openSessions = (application: SeededApplication, amount: number): Promise<SealedSession[]> =>
  Promise.all(Array.from({ length: amount }, () => openSession(server, application)));

const codeOf = async (session: SealedSession, members: Record<string, unknown>): Promise<unknown> =>
  (await session.ask(validatePath, members)).code;

async function ban(license: SeededLicense, body?: Record<string, unknown>): Promise<void> {
  const answer = await world.client.post(`/api/v1/licenses/${license.id}/ban`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

/**
 * Makes a change during continuous requests, some of which run at any moment, and returns the results of those that
 * began after its response: the change must be visible to every one of them.
 */
async function codesAfter(
  change: () => Promise<unknown>,
  ask: (turn: number) => Promise<unknown>,
): Promise<{ before: Set<unknown>; after: Set<unknown> }> {
  const before = new Set<unknown>();
  const after = new Set<unknown>();
  let changed = false;
  let asked = 0;
  const keepAsking = async () => {
    for (let remaining = 3; remaining > 0; ) {
      const begunAfter = changed;
      if (begunAfter) remaining--;
      (begunAfter ? after : before).add(await ask(asked++));
    }
  };
  const askers = Array.from({ length: 6 }, keepAsking);
  await change();
  changed = true;
  await Promise.all(askers);
  return { before, after };
}

describe.skipIf(!haveServer || !projectOfServer)('races on a PostgreSQL server', () => {
  beforeAll(async () => {
    server = await startTestServer({
      database: 'server',
      env: { RATE_LIMITS: 'validate=1000000,session=1000000' },
    });
    world = await createWorld(server);
  });
  afterAll(() => server.close());

  test.each([2, devices])(
    'of %i devices that bind one license concurrently exactly one gets OK',
    async (amount) => {
      const application = await world.createApplication();
      const sessions = await openSessions(application, amount);
      for (const license of await application.mint({ amount: rounds, durationSeconds: 3600 })) {
        const { licenseKey } = license;
        const codes = await Promise.all(
          sessions.map((session, device) => codeOf(session, { licenseKey, hwid: `device-${device}` })),
        );
        expect(codes.filter((code) => code === 'OK')).toHaveLength(1);
        expect(codes.filter((code) => code === 'HWID_MISMATCH')).toHaveLength(amount - 1);
        const winner = codes.indexOf('OK');
        expect(await storedLicense(server, license.id)).toMatchObject({ hwid: `device-${winner}` });
      }
      const log = await storedLog(server, application.id, 'license_validated');
      expect(log.filter(({ metadata }) => isBound(metadata))).toHaveLength(rounds);
    },
  );

  test('of devices that bind a license in use exactly one gets OK, and the term stays', async () => {
    const application = await world.createApplication();
    const sessions = await openSessions(application, devices);
    const [first] = sessions;
    if (first === undefined) throw new Error('thirty sessions were asked for');
    for (const { id, licenseKey } of await application.mint({ amount: rounds, durationSeconds: 3600 })) {
      expect(await codeOf(first, { licenseKey })).toBe('OK');
      const before = await storedLicense(server, id);
      const codes = await Promise.all(
        sessions.map((session, device) => codeOf(session, { licenseKey, hwid: `device-${device}` })),
      );
      expect(codes.filter((code) => code === 'OK')).toHaveLength(1);
      const { activatedAt, expiresAt, hwid } = (await storedLicense(server, id)) ?? {};
      expect({ activatedAt, expiresAt }).toEqual({
        activatedAt: before?.activatedAt,
        expiresAt: before?.expiresAt,
      });
      expect(hwid).toBe(`device-${codes.indexOf('OK')}`);
    }
  });

  test('of 30 concurrent first uses exactly one starts the term, and all return the same expiry', async () => {
    const application = await world.createApplication();
    const sessions = await openSessions(application, devices);
    for (const { id, licenseKey } of await application.mint({ amount: rounds, durationSeconds: 3600 })) {
      const verdicts = await Promise.all(
        sessions.map((session, device) =>
          // Half of them name the same device, half none: all are valid.
          session.ask(validatePath, device % 2 === 0 ? { licenseKey, hwid: 'device' } : { licenseKey }),
        ),
      );
      expect(new Set(verdicts.map(({ code }) => code))).toEqual(new Set(['OK']));
      const stored = await storedLicense(server, id);
      const { activatedAt, expiresAt } = stored ?? {};
      expect(stored).toMatchObject({ status: 'active', hwid: 'device' });
      expect(Number(expiresAt) - Number(activatedAt)).toBe(3_600_000);
      expect(new Set(verdicts.map((verdict) => verdict.expiresAt))).toEqual(
        new Set([expiresAt?.toISOString()]),
      );
    }
    const log = await storedLog(server, application.id, 'license_validated');
    expect(log).toHaveLength(rounds * devices);
    expect(log.filter(({ metadata }) => isActivated(metadata))).toHaveLength(rounds);
    expect(log.filter(({ metadata }) => isBound(metadata))).toHaveLength(rounds);
  });

  test('after the response to a ban no validate is OK', async () => {
    const application = await world.createApplication();
    const sessions = await openSessions(application, 6);
    for (const license of await application.mint({ amount: rounds, durationSeconds: 3600 })) {
      const { licenseKey } = license;
      const { before, after } = await codesAfter(
        () => ban(license),
        (turn) => codeOf(pick(sessions, turn), { licenseKey, hwid: 'device' }),
      );
      for (const code of before) expect(['OK', 'BANNED']).toContain(code);
      expect(after).toEqual(new Set(['BANNED']));
      const stored = await storedLicense(server, license.id);
      expect(stored?.status).toBe('banned');
      // Only a request that got OK started the term.
      expect(stored?.activatedAt !== null).toBe(before.has('OK'));
      expect(stored?.hwid).toBe(before.has('OK') ? 'device' : null);
    }
  });

  test('a concurrent first use and ban result in a banned license, whichever came first', async () => {
    const application = await world.createApplication();
    const sessions = await openSessions(application, 8);
    for (const license of await application.mint({ amount: rounds, durationSeconds: 3600 })) {
      const { licenseKey } = license;
      const asked = Promise.all(
        sessions.map((session, device) => codeOf(session, { licenseKey, hwid: `device-${device}` })),
      );
      await ban(license);
      expect(await codeOf(pick(sessions, 0), { licenseKey })).toBe('BANNED');
      const codes = await asked;
      const accepted = codes.indexOf('OK');
      expect(codes.filter((code) => code === 'OK').length).toBeLessThanOrEqual(1);
      expect(await storedLicense(server, license.id)).toMatchObject({
        status: 'banned',
        hwid: accepted === -1 ? null : `device-${accepted}`,
      });
    }
  });

  test('after the response to a ban of the device no validate with it is OK', async () => {
    const application = await world.createApplication();
    const sessions = await openSessions(application, 6);
    const other = await application.mintOne();
    for (const [round, license] of (await application.mint({ amount: 5 })).entries()) {
      const hwid = `device-${round}`;
      expect(await codeOf(pick(sessions, 0), { licenseKey: license.licenseKey, hwid })).toBe('OK');
      await application.settings({ hwidLockEnabled: false });
      const { before, after } = await codesAfter(
        () => ban(license, { scope: 'hwid' }),
        (turn) => codeOf(pick(sessions, turn), { licenseKey: other.licenseKey, hwid }),
      );
      for (const code of before) expect(['OK', 'HWID_BANNED']).toContain(code);
      expect(after).toEqual(new Set(['HWID_BANNED']));
      await application.settings({ hwidLockEnabled: true });
    }
  });

  test('after the response to a deletion no validate is OK, and nothing fails unexpectedly', async () => {
    for (let round = 0; round < 8; round++) {
      const application = await world.createApplication();
      const license = await application.mintOne({ durationSeconds: 3600 });
      const sessions = await openSessions(application, 6);
      const { licenseKey } = license;
      const ask = async (turn: number) => {
        const session = pick(sessions, turn);
        const sealed = session.seal(session.inner({ licenseKey, hwid: 'device' }));
        const answer = await session.client.post(validatePath, sealed);
        return answer.status === 200 ? session.open(answer).code : answer.status;
      };
      const { before, after } = await codesAfter(
        () => world.client.delete(`/api/v1/apps/${application.id}`),
        ask,
      );
      for (const code of before) expect(['OK', 'LICENSE_NOT_FOUND', 401]).toContain(code);
      expect(after).toEqual(new Set([401]));
      expect(await storedLicense(server, license.id)).toBeUndefined();
    }
    // Log entries of deleted data are dropped without affecting others.
    await server.deps.services.securityLog.flush();
    expect(server.logLines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
  });

  test('after the response to a change of settings every validate follows it', async () => {
    const application = await world.createApplication();
    const sessions = await openSessions(application, 6);
    const { licenseKey } = await application.mintOne();
    const ask = (turn: number) => codeOf(pick(sessions, turn), { licenseKey });
    for (let round = 0; round < 5; round++) {
      const changes = [
        [{ status: 'disabled' }, 'APP_DISABLED'],
        [{ status: 'active' }, 'OK'],
        [{ version: '2.0.0' }, 'APP_OUTDATED'],
        [{ version: application.version }, 'OK'],
      ] as const;
      for (const [settings, code] of changes) {
        const { after } = await codesAfter(() => application.settings(settings), ask);
        expect(after).toEqual(new Set([code]));
      }
    }
  });

  test('concurrent changes of settings and messages are all kept', async () => {
    const application = await world.createApplication();
    const keys = ['OK', 'BANNED', 'EXPIRED', 'LICENSE_NOT_FOUND', 'HWID_MISMATCH', 'APP_OUTDATED'];
    await Promise.all(
      keys.map((key) => application.settings({ responseMessages: { [key]: `text of ${key}` } })),
    );
    const answer = await world.client.get(`/api/v1/apps/${application.id}`);
    expect(answer.body).toMatchObject({
      application: { responseMessages: Object.fromEntries(keys.map((key) => [key, `text of ${key}`])) },
    });
  });
});

function pick(sessions: readonly SealedSession[], turn: number): SealedSession {
  const session = sessions[turn % sessions.length];
  if (session === undefined) throw new Error('there are no sessions');
  return session;
}

const isActivated = (metadata: unknown): boolean => flag(metadata, 'activated');
const isBound = (metadata: unknown): boolean => flag(metadata, 'bound');

function flag(metadata: unknown, name: string): boolean {
  return (
    typeof metadata === 'object' &&
    metadata !== null &&
    Object.entries(metadata).some(([key, value]) => key === name && value === true)
  );
}
