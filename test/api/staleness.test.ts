import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { newId } from '../../src/lib/ids.ts';
import type { ApiAnswer } from '../setup/api-client.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { insertBan } from '../setup/stored.ts';
import { createWorld, type SeededApplication, type SeededLicense, type World } from '../setup/world.ts';
import { bansAnswer, expectSuccess, noLimits } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
});
afterAll(() => server.close());

let world: World;
let application: SeededApplication;
let license: SeededLicense;
let session: SealedSession;

const ask = (hwid?: string, licenseKey = license.licenseKey) =>
  session.ask(validatePath, { licenseKey, hwid });

/** Validates twice, so that the hot path has the license in its cache. */
async function cached(expected: Record<string, unknown>, hwid?: string): Promise<void> {
  for (const _time of ['first', 'second']) expect(await ask(hwid)).toMatchObject(expected);
}

beforeEach(async () => {
  world = await createWorld(server);
  application = await world.createApplication();
  license = await application.mintOne({ durationSeconds: 3_600, subscriptionTier: 1 });
  session = await openSession(server, application);
});

/** A change, with the result of validate before and after it. */
interface Change {
  readonly hwid?: string;
  readonly before: Record<string, unknown>;
  readonly prepare?: () => Promise<void>;
  readonly make: () => Promise<ApiAnswer>;
  readonly after: Record<string, unknown>;
  /** The hwid that is sent after the change, if it differs. */
  readonly hwidAfter?: string;
}

const post = (path: string, body?: unknown) => world.client.post(`/api/v1${path}`, body);
const remove = (path: string) => world.client.delete(`/api/v1${path}`);
const ok = { success: true, code: 'OK' };

const removeBan = (banType: 'hwid' | 'ip') => async () => {
  const answer = await world.client.get(`/api/v1/apps/${application.id}/bans`);
  const ban = expectSuccess(answer, 200, bansAnswer).bans.find((row) => row.banType === banType);
  return remove(`/apps/${application.id}/bans/${ban?.id}`);
};
let userId = '';
const makeUser = async () => {
  const body = { username: 'grace', password: 'a user password', licenseKey: license.licenseKey };
  const answer = await post(`/apps/${application.id}/users`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  userId = (answer.body as { user: { id: string } }).user.id;
};
const settings = (fields: Record<string, unknown>) =>
  world.client.patch(`/api/v1/apps/${application.id}/settings`, fields);

const changes: Record<string, Change> = {
  'a ban of the license': {
    before: ok,
    make: () => post(`/licenses/${license.id}/ban`),
    after: { code: 'BANNED' },
  },
  'a ban of its device': {
    hwid: 'device',
    before: ok,
    make: () => post(`/licenses/${license.id}/ban`, { scope: 'hwid' }),
    after: { code: 'HWID_BANNED' },
  },
  'a ban of its address': {
    before: ok,
    make: () => post(`/licenses/${license.id}/ban`, { scope: 'hwid_and_ip', ip: session.client.ip }),
    after: { code: 'IP_BANNED' },
  },
  'another tier': {
    before: { ...ok, subscriptionTier: 1 },
    make: () => post(`/licenses/${license.id}/tier`, { subscriptionTier: 8 }),
    after: { ...ok, subscriptionTier: 8 },
  },
  'a reset of the device': {
    hwid: 'old',
    before: ok,
    make: () => post(`/licenses/${license.id}/reset-hwid`),
    hwidAfter: 'new',
    after: ok,
  },
  "a reset of a user's device": {
    hwid: 'old',
    prepare: makeUser,
    before: ok,
    make: () => post(`/apps/${application.id}/users/${userId}/reset-hwid`),
    hwidAfter: 'new',
    after: ok,
  },
  'the deletion of the license': {
    before: ok,
    make: () => remove(`/licenses/${license.id}`),
    after: { code: 'LICENSE_NOT_FOUND' },
  },
  'the end of the application': {
    before: ok,
    make: () => settings({ status: 'disabled' }),
    after: { code: 'APP_DISABLED' },
  },
  'another version': {
    before: ok,
    make: () => settings({ version: '2.0.0' }),
    after: { code: 'APP_OUTDATED' },
  },
  'another text': {
    before: ok,
    make: () => settings({ responseMessages: { OK: 'Come in.' } }),
    after: { ...ok, message: 'Come in.' },
  },
  'the lock being lifted': {
    hwid: 'device',
    before: ok,
    make: () => settings({ hwidLockEnabled: false }),
    hwidAfter: 'another',
    after: ok,
  },
  'the removal of a ban of the device': {
    hwid: 'device',
    prepare: () => insertBan(server, application.id, 'hwid', 'device').then(useUuidV7),
    before: { code: 'HWID_BANNED' },
    make: removeBan('hwid'),
    after: ok,
  },
  'the removal of a ban of the address': {
    prepare: async () => {
      const { id } = await application.mintOne();
      await post(`/licenses/${id}/ban`, { scope: 'hwid_and_ip', ip: session.client.ip });
    },
    before: { code: 'IP_BANNED' },
    make: removeBan('ip'),
    after: ok,
  },
};

/** A UUIDv7, because the schema of the list requires it for bans. */
async function useUuidV7(): Promise<void> {
  await server.deps.services.database.prisma.ban.updateMany({
    where: { applicationId: application.id },
    data: { id: newId() },
  });
}

async function prepare(change: Change): Promise<void> {
  await change.prepare?.();
  await cached(change.before, change.hwid);
}
const later = (change: Change) => ask(change.hwidAfter ?? change.hwid);

describe('validate applies at once', () => {
  test.each(Object.entries(changes))('%s', async (_what, change) => {
    await prepare(change);
    const answer = await change.make();
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(await later(change)).toMatchObject(change.after);
  });

  test('an extension', async () => {
    const first = await ask();
    await cached({ expiresAt: first.expiresAt });
    expect((await post(`/apps/${application.id}/licenses/extend`, { seconds: 60 })).status).toBe(200);
    expect(Date.parse(String((await ask()).expiresAt))).toBe(Date.parse(String(first.expiresAt)) + 60_000);
  });

  test('the first use of the license by a user created at the dashboard', async () => {
    const other = await openSession(server, await world.createApplication());
    // With another application, so that the license is cached in its unused state.
    for (const _time of ['first', 'second']) {
      const answer = await other.ask(validatePath, { licenseKey: license.licenseKey });
      expect(answer).toMatchObject({ code: 'APP_MISMATCH' });
    }
    await makeUser();
    const { expiresAt } = await server.deps.services.database.prisma.license.findUniqueOrThrow({
      where: { id: license.id },
    });
    server.clock.step(10);
    expect((await ask()).expiresAt).toBe(expiresAt?.toISOString());
  });

  test.each(['application', 'account'])(
    'the deletion of the %s whose keys another session has cached',
    async (what) => {
      const stranger = await createWorld(server);
      const other = await openSession(server, await stranger.createApplication());
      const asThere = async () => (await other.ask(validatePath, { licenseKey: license.licenseKey })).code;
      expect([await asThere(), await asThere()]).toEqual(['APP_MISMATCH', 'APP_MISMATCH']);
      const answer =
        what === 'application'
          ? await remove(`/apps/${application.id}`)
          : await post('/account/delete', { password: world.developer.password, confirm: 'DELETE' });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      expect(await asThere()).toBe('LICENSE_NOT_FOUND');
    },
  );
});

describe('validate applies at once, although the acknowledgement of the commit is lost,', () => {
  afterEach(() => vi.restoreAllMocks());

  /** From now on, transactions commit and then fail as if the connection broke before the acknowledgement. */
  function loseAcknowledgements(): void {
    const { prisma } = server.deps.services.database;
    const original = prisma.$transaction;
    vi.spyOn(prisma, '$transaction').mockImplementation(async (...args: unknown[]) => {
      await Reflect.apply(original, prisma, args);
      throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });
    });
  }

  test.each(Object.entries(changes))('%s', async (_what, change) => {
    await prepare(change);
    loseAcknowledgements();
    const answer = await change.make();
    vi.restoreAllMocks();
    expect(answer.status, JSON.stringify(answer.body)).toBe(503);
    expect(await later(change)).toMatchObject(change.after);
  });

  test('an extension', async () => {
    const first = await ask();
    await cached({ expiresAt: first.expiresAt });
    loseAcknowledgements();
    const answer = await post(`/apps/${application.id}/licenses/extend`, { seconds: 60 });
    vi.restoreAllMocks();
    expect(answer.status).toBe(503);
    expect(Date.parse(String((await ask()).expiresAt))).toBe(Date.parse(String(first.expiresAt)) + 60_000);
  });
});
