import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ApiClient } from '../setup/api-client.ts';
import {
  ask,
  askIn,
  type ClientVerbName,
  clientEvents,
  clientVerbs,
  type Members,
  stateBesideLog,
  storedSessions,
  storedUser,
} from '../setup/end-users.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { databaseState, insertBan, sql, storedLicense } from '../setup/stored.ts';
import { useWorld } from '../setup/use-world.ts';
import { createWorld, type SeededApplication, type SeededLicense } from '../setup/world.ts';
import { messageKeys } from './support.ts';

const { server, world } = useWorld();

type Verdict = Record<string, unknown>;

const password = 'correct horse battery';
const days = 86_400_000;
const iso = (milliseconds: number) => new Date(milliseconds).toISOString();
const opaqueToken = /^[A-Za-z0-9_-]{43}$/;
const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}$/);

const expectOk = (verdict: Verdict) => expect(verdict).toMatchObject({ success: true, code: 'OK' });

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

async function ban(licenseId: string, body?: Members): Promise<void> {
  const answer = await world.client.post(`/api/v1/licenses/${licenseId}/ban`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

/** Bans an address through the dashboard, which invalidates caches. */
const banAddress = async (application: SeededApplication, ip: string) =>
  ban((await application.mintOne()).id, { scope: 'hwid_and_ip', ip });

async function unban(application: SeededApplication, banType: string): Promise<void> {
  const [row] = await sql<{ id: string }>(
    server,
    'SELECT id FROM bans WHERE application_id = $1 AND ban_type = $2::"BanType"',
    [application.id, banType],
  );
  const answer = await world.client.delete(`/api/v1/apps/${application.id}/bans/${row?.id}`);
  expect(answer.status).toBe(200);
}

/** Changes a license's row. This takes effect at once only if its key is not cached. */
const setLicense = (license: SeededLicense, assignments: string) =>
  sql(server, `UPDATE licenses SET ${assignments} WHERE id = $1`, [license.id]);

const expired = `status = 'active', activated_at = '2019-01-01', expires_at = '2020-01-01'`;
const bound = `status = 'active', activated_at = now(), hwid = 'another device'`;

/** An application with an unused license, and a session from a separate address. */
interface Arena {
  readonly application: SeededApplication;
  readonly session: SealedSession;
  readonly fresh: SeededLicense;
}

/** The same with the user ada, who has a license of tier 1 on `device`. `fresh` has tier 2. */
interface Inhabited extends Arena {
  readonly license: SeededLicense;
  readonly userId: string;
}

async function arena(): Promise<Arena> {
  const application = await world.createApplication();
  const fresh = await application.mintOne({ durationSeconds: 3600, subscriptionTier: 2 });
  return { application, fresh, session: await openSession(server, application) };
}

async function inhabited(): Promise<Inhabited> {
  const made = await arena();
  const license = await made.application.mintOne({ durationSeconds: 3600, subscriptionTier: 1 });
  const { licenseKey } = license;
  const members = { username: 'ada', password, licenseKey, hwid: 'device', email: 'ada@example.com' };
  expectOk(await ask(server, made.application, 'register', members));
  const user = await storedUser(server, made.application, 'ada');
  if (user === undefined) throw new Error('ada was registered and is not there');
  await server.deps.services.securityLog.flush();
  return { ...made, license, userId: user.id };
}

/** A valid request of each verb. */
const granted: Record<ClientVerbName, (made: Arena) => Members> = {
  register: ({ fresh }) => ({ username: 'bob', password, licenseKey: fresh.licenseKey, hwid: 'device' }),
  login: () => ({ username: 'ada', password, hwid: 'device' }),
  upgrade: ({ fresh }) => ({ username: 'ada', licenseKey: fresh.licenseKey, hwid: 'device' }),
};

describe('a success', () => {
  test.each(clientVerbs)('of %s has exactly the documented fields', (verb) =>
    withHeldClock(async () => {
      const made = await inhabited();
      const { application, session, license, fresh } = made;
      server.clock.step(60);
      const now = server.clock.now();
      const verdict = await askIn(session, verb, granted[verb](made));
      const old = verb === 'login';
      expect(verdict).toEqual({
        success: true,
        code: 'OK',
        message: 'License is valid.',
        sessionId: session.sessionId,
        timestamp: Math.floor(now / 1000),
        v: 1,
        sessionToken: expect.stringMatching(opaqueToken),
        expiresAt: iso(now + 7 * days),
        user: {
          id: verb === 'register' ? uuid : made.userId,
          username: verb === 'register' ? 'bob' : 'ada',
          email: verb === 'register' ? null : 'ada@example.com',
          applicationId: application.id,
        },
        license: {
          id: old ? license.id : fresh.id,
          status: 'active',
          expiresAt: iso(old ? now + 3_540_000 : now + 3_600_000),
          subscriptionTier: old ? 1 : 2,
        },
        session: { ip: session.client.ip, hwid: 'device' },
      });
    }),
  );

  test('without a license and a device tells null of both', async () => {
    const { application, session } = await arena();
    await application.settings({ requireLicenseToRegister: false });
    const user = { username: 'ada', email: 'ada@example.com', id: uuid, applicationId: application.id };
    const registered = await askIn(session, 'register', {
      username: 'ada',
      password,
      email: 'ada@example.com',
    });
    const loggedIn = await askIn(session, 'login', { username: 'ada', password });
    for (const verdict of [registered, loggedIn]) {
      expect(verdict).toMatchObject({ success: true, code: 'OK', user, license: null });
      expect(verdict.session).toEqual({ ip: session.client.ip, hwid: null });
    }
    expect(await storedUser(server, application, 'ada')).toMatchObject({ licenseId: null, lastHwid: null });
  });

  test('with a license that never expires tells null of its end', async () => {
    const { application, session } = await arena();
    const { licenseKey } = await application.mintOne({ durationSeconds: 0 });
    const registered = await askIn(session, 'register', { username: 'ada', password, licenseKey });
    expect(registered.license).toMatchObject({ status: 'active', expiresAt: null, subscriptionTier: 0 });
    const { licenseKey: higher } = await application.mintOne({ durationSeconds: 0, subscriptionTier: 1 });
    const upgraded = await askIn(session, 'upgrade', { username: 'ada', licenseKey: higher });
    expect(upgraded.license).toMatchObject({ status: 'active', expiresAt: null, subscriptionTier: 1 });
  });

  test('gives a token of its own each time, and keeps its hash alone', () =>
    withHeldClock(async () => {
      const { application, session, fresh } = await arena();
      const { licenseKey } = await application.mintOne();
      const now = server.clock.now();
      const verdicts = [
        await askIn(session, 'register', { username: 'ada', password, licenseKey, hwid: 'device' }),
        await askIn(session, 'login', { username: 'ada', password }),
        await askIn(session, 'login', { username: 'ada', password, hwid: 'device' }),
        await askIn(session, 'upgrade', { username: 'ada', licenseKey: fresh.licenseKey }),
      ];
      for (const verdict of verdicts) expectOk(verdict);
      const tokens = verdicts.map(({ sessionToken }) => String(sessionToken));
      expect(new Set(tokens).size).toBe(4);
      const user = await storedUser(server, application, 'ada');
      const stored = await storedSessions(server, String(user?.id));
      const hwids = ['device', null, 'device', null];
      expect(stored).toEqual(
        tokens.map((token, index) => ({
          tokenHash: createHash('sha256').update(token).digest(),
          ip: session.client.ip,
          hwid: hwids[index],
          createdAt: new Date(now),
          expiresAt: new Date(now + 7 * days),
        })),
      );
      const written = JSON.stringify(await databaseState(server));
      for (const token of tokens) {
        expect(written).not.toContain(token);
        expect(written).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
      }
    }));

  test('keeps the password as an Argon2id hash, and never shows it', async () => {
    const { application, session, fresh } = await arena();
    const { licenseKey } = fresh;
    const verdict = await askIn(session, 'register', { username: 'ada', password, licenseKey });
    expect((await storedUser(server, application, 'ada'))?.passwordHash).toMatch(/^\$argon2id\$v=19\$/);
    expect(JSON.stringify(verdict)).not.toMatch(/argon2|correct horse/);
  });
});

describe('first use', () => {
  const unused = { status: 'unused', activatedAt: null, expiresAt: null, hwid: null };

  test.each(['register', 'upgrade'] as const)('by %s activates, starts the term and binds', (verb) =>
    withHeldClock(async () => {
      const made = await inhabited();
      expect(await storedLicense(server, made.fresh.id)).toMatchObject(unused);
      server.clock.step(60);
      const now = server.clock.now();
      expectOk(await askIn(made.session, verb, granted[verb](made)));
      await server.deps.services.securityLog.flush();
      expect(await storedLicense(server, made.fresh.id)).toEqual({
        status: 'active',
        activatedAt: new Date(now),
        expiresAt: new Date(now + 3_600_000),
        hwid: 'device',
        lastIp: made.session.client.ip,
      });
      // A validate of the same key sees at once what was bound.
      const { licenseKey } = made.fresh;
      expect(await made.session.ask(validatePath, { licenseKey, hwid: 'other' })).toMatchObject({
        code: 'HWID_MISMATCH',
      });
    }),
  );

  test.each(['register', 'upgrade'] as const)('by %s without a device binds no device', async (verb) => {
    const made = await inhabited();
    expectOk(await askIn(made.session, verb, { ...granted[verb](made), hwid: undefined }));
    expect(await storedLicense(server, made.fresh.id)).toMatchObject({ status: 'active', hwid: null });
  });

  test.each(['register', 'upgrade'] as const)('by %s with the lock off binds no device', async (verb) => {
    const made = await inhabited();
    await made.application.settings({ hwidLockEnabled: false });
    expectOk(await askIn(made.session, verb, granted[verb](made)));
    expect(await storedLicense(server, made.fresh.id)).toMatchObject({ status: 'active', hwid: null });
  });

  test('happens once: a second use does not restart the term', () =>
    withHeldClock(async () => {
      const { session, fresh } = await arena();
      const { licenseKey } = fresh;
      const first = await session.ask(validatePath, { licenseKey });
      server.clock.step(50);
      const { license } = await askIn(session, 'register', {
        username: 'ada',
        password,
        licenseKey,
        hwid: 'device',
      });
      expect(license).toMatchObject({ expiresAt: first.expiresAt });
      expect(await storedLicense(server, fresh.id)).toMatchObject({ hwid: 'device' });
    }));

  test('by login binds the device of a license that has none', async () => {
    const { application, session, fresh } = await arena();
    const { licenseKey } = fresh;
    expectOk(await askIn(session, 'register', { username: 'ada', password, licenseKey }));
    expectOk(await askIn(session, 'login', { username: 'ada', password }));
    expect(await storedLicense(server, fresh.id)).toMatchObject({ hwid: null });
    expectOk(await askIn(session, 'login', { username: 'ada', password, hwid: 'device' }));
    expect(await storedLicense(server, fresh.id)).toMatchObject({ hwid: 'device' });
    const other = await ask(server, application, 'login', { username: 'ada', password, hwid: 'other' });
    expect(other.code).toBe('HWID_MISMATCH');
  });

  test('by login activates and starts an unused linked license', async () => {
    const { application, session, fresh } = await arena();
    await application.settings({ requireLicenseToRegister: false });
    expectOk(await askIn(session, 'register', { username: 'ada', password }));
    await sql(server, 'UPDATE end_users SET license_id = $1 WHERE application_id = $2', [
      fresh.id,
      application.id,
    ]);
    const { license } = await askIn(session, 'login', { username: 'ada', password });
    expect(license).toMatchObject({ id: fresh.id, status: 'active', expiresAt: expect.any(String) });
    expect(await storedLicense(server, fresh.id)).toMatchObject({ status: 'active' });
  });
});

describe('a user', () => {
  test('is stored with the last address and the last named device', async () => {
    const { application, session, userId } = await inhabited();
    const user = () => storedUser(server, application, 'ada');
    expect(await user()).toMatchObject({ lastHwid: 'device' });
    await application.settings({ hwidLockEnabled: false });
    expectOk(await askIn(session, 'login', { username: 'ada', password, hwid: 'second' }));
    expect(await user()).toMatchObject({ id: userId, lastIp: session.client.ip, lastHwid: 'second' });

    const elsewhere = new ApiClient(server.baseUrl, { ip: '2001:DB8::1' });
    const options = { client: elsewhere };
    expectOk(await ask(server, application, 'login', { username: 'ada', password }, options));
    expect(await user()).toMatchObject({ lastIp: '2001:db8::1', lastHwid: 'second' });

    const wrong = await askIn(session, 'login', { username: 'ada', password: 'wrong', hwid: 'third' });
    expect(wrong.code).toBe('INVALID_CREDENTIALS');
    expect(await user()).toMatchObject({ lastIp: '2001:db8::1', lastHwid: 'second' });

    const { licenseKey } = await application.mintOne({ subscriptionTier: 9 });
    expectOk(await askIn(session, 'upgrade', { username: 'ada', licenseKey, hwid: 'fourth' }));
    expect(await user()).toMatchObject({ lastIp: session.client.ip, lastHwid: 'fourth' });
    const { licenseKey: higher } = await application.mintOne({ subscriptionTier: 10 });
    const upgraded = { username: 'ada', licenseKey: higher };
    expectOk(await ask(server, application, 'upgrade', upgraded, options));
    expect(await user()).toMatchObject({ lastIp: '2001:db8::1', lastHwid: 'fourth' });
  });

  test('can have the same name in several applications', async () => {
    for (const { session, fresh } of [await arena(), await arena()]) {
      const { licenseKey } = fresh;
      expectOk(await askIn(session, 'register', { username: 'ada', password, licenseKey }));
    }
  });

  test('of one application does not exist in another', async () => {
    await inhabited();
    const { session, fresh } = await arena();
    const { licenseKey } = fresh;
    expect(await askIn(session, 'login', { username: 'ada', password })).toMatchObject({
      code: 'INVALID_CREDENTIALS',
    });
    expect(await askIn(session, 'upgrade', { username: 'ada', licenseKey })).toMatchObject({
      code: 'USER_NOT_FOUND',
    });
  });

  test('can register with the longest password and name, and log in only with exactly these', async () => {
    const { application, session, fresh } = await arena();
    const username = `${'a'.repeat(60)}.B_-`;
    const longest = `${'p'.repeat(126)}ü€`;
    const { licenseKey } = fresh;
    expectOk(await askIn(session, 'register', { username, password: longest, licenseKey }));
    expectOk(await askIn(session, 'login', { username, password: longest }));
    for (const wrong of [longest.slice(0, -1), `${longest} `, longest.toUpperCase(), 'x', 'y'.repeat(1024)]) {
      expect((await ask(server, application, 'login', { username, password: wrong })).code).toBe(
        'INVALID_CREDENTIALS',
      );
    }
  });

  test('whose license is deleted logs in without one', async () => {
    const { session, license } = await inhabited();
    expect((await world.client.delete(`/api/v1/licenses/${license.id}`)).status).toBe(200);
    const verdict = await askIn(session, 'login', { username: 'ada', password, hwid: 'other' });
    expect(verdict).toMatchObject({ success: true, license: null });
  });
});

describe('an upgrade', () => {
  const tierOf = (verdict: Verdict) => (verdict.success ? verdict.license : verdict.code);

  test("requires a higher tier than the user's license", async () => {
    const { application, session, license } = await inhabited();
    const mint = async (subscriptionTier: number) => application.mintOne({ subscriptionTier });
    for (const tier of [0, 1]) {
      const { id, licenseKey } = await mint(tier);
      expect(tierOf(await askIn(session, 'upgrade', { username: 'ada', licenseKey, hwid: 'device' }))).toBe(
        'TIER_NOT_HIGHER',
      );
      expect(await storedLicense(server, id)).toMatchObject({ status: 'unused', hwid: null });
    }
    const own = { username: 'ada', licenseKey: license.licenseKey, hwid: 'device' };
    expect((await askIn(session, 'upgrade', own)).code).toBe('TIER_NOT_HIGHER');
    expect(await storedUser(server, application, 'ada')).toMatchObject({ licenseId: license.id });

    const higher = await mint(2);
    const before = await storedLicense(server, license.id);
    const upgraded = { username: 'ada', licenseKey: higher.licenseKey };
    expect(tierOf(await askIn(session, 'upgrade', upgraded))).toMatchObject({
      id: higher.id,
      subscriptionTier: 2,
    });
    expect(await storedUser(server, application, 'ada')).toMatchObject({ licenseId: higher.id });
    expect(await storedLicense(server, license.id), 'the old license stays as it was').toEqual(before);
    expect((await askIn(session, 'login', { username: 'ada', password })).license).toMatchObject({
      id: higher.id,
    });
  });

  test('of a user without a license requires a tier above 0', async () => {
    const { application, session, fresh } = await arena();
    await application.settings({ requireLicenseToRegister: false });
    expectOk(await askIn(session, 'register', { username: 'ada', password }));
    const free = await application.mintOne({ subscriptionTier: 0 });
    const refused = await askIn(session, 'upgrade', { username: 'ada', licenseKey: free.licenseKey });
    expect(refused.code).toBe('TIER_NOT_HIGHER');
    const one = await application.mintOne({ subscriptionTier: 1 });
    expectOk(await askIn(session, 'upgrade', { username: 'ada', licenseKey: one.licenseKey }));
    expectOk(await askIn(session, 'upgrade', { username: 'ada', licenseKey: fresh.licenseKey }));
  });
});

type Setup = (made: Inhabited) => Promise<Members>;
type Case = [verb: ClientVerbName, code: string, what: string, setup: Setup];

/** A refusal of a verb, by preparation or by the request. */
const refused = (
  verb: ClientVerbName,
  code: string,
  change: (made: Inhabited) => unknown,
  what = code,
): Case => [
  verb,
  code,
  what,
  async (made) => {
    const changed = await change(made);
    return { ...granted[verb](made), ...(isMembers(changed) && changed) };
  },
];

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const foreignKey = async () => ({
  licenseKey: (await (await (await createWorld(server)).createApplication()).mintOne()).licenseKey,
});

/** A cached key of a deleted application. */
const orphanedKey = async ({ session }: Inhabited) => {
  const { client, createApplication } = await createWorld(server);
  const application = await createApplication();
  const { licenseKey } = await application.mintOne();
  const other = { username: 'grace', password, licenseKey };
  expect(await askIn(session, 'register', other)).toMatchObject({ code: 'APP_MISMATCH' });
  expect((await client.delete(`/api/v1/apps/${application.id}`)).status).toBe(200);
  return { licenseKey };
};

const cases: Case[] = [
  ...clientVerbs.flatMap((verb) => [
    refused(verb, 'APP_DISABLED', ({ application }) => application.settings({ status: 'disabled' })),
    refused(verb, 'APP_OUTDATED', ({ application }) => application.settings({ version: '1.0.0 ' })),
    refused(verb, 'IP_BANNED', ({ application, session }) => banAddress(application, session.client.ip)),
    refused(verb, 'HWID_BANNED', async ({ application }) => {
      await insertBan(server, application.id, 'hwid', 'stolen');
      return { hwid: 'stolen' };
    }),
  ]),
  ...(['register', 'upgrade'] as const).flatMap((verb) => [
    refused(verb, 'LICENSE_NOT_FOUND', () => ({ licenseKey: 'no such key' })),
    refused(verb, 'LICENSE_NOT_FOUND', orphanedKey, 'the key of an application that was deleted'),
    refused(verb, 'APP_MISMATCH', foreignKey),
    refused(verb, 'BANNED', ({ fresh }) => ban(fresh.id)),
    refused(verb, 'EXPIRED', ({ fresh }) => setLicense(fresh, expired)),
    refused(verb, 'HWID_MISMATCH', ({ fresh }) => setLicense(fresh, bound)),
  ]),
  refused('register', 'REGISTER_DISABLED', ({ application }) =>
    application.settings({ registrationEnabled: false }),
  ),
  refused('register', 'LICENSE_REQUIRED', () => ({ licenseKey: undefined })),
  refused('register', 'USERNAME_TAKEN', () => ({ username: 'ada' })),
  refused(
    'register',
    'USERNAME_TAKEN',
    async ({ application }) => {
      await application.settings({ requireLicenseToRegister: false });
      return { username: 'ada', licenseKey: undefined };
    },
    'USERNAME_TAKEN without a required license',
  ),
  refused('login', 'INVALID_CREDENTIALS', () => ({ password: 'correct horse' }), 'a wrong password'),
  refused('login', 'INVALID_CREDENTIALS', () => ({ username: 'nobody' }), 'an unknown name'),
  refused('login', 'INVALID_CREDENTIALS', () => ({ username: '\u{1f600}' }), 'a name nobody can have'),
  refused('login', 'BANNED', ({ license }) => ban(license.id)),
  refused('login', 'EXPIRED', ({ license }) => setLicense(license, expired)),
  refused('login', 'HWID_MISMATCH', () => ({ hwid: 'other' })),
  refused('upgrade', 'USER_NOT_FOUND', () => ({ username: 'nobody' })),
  refused('upgrade', 'TIER_NOT_HIGHER', async ({ application }) => {
    const { licenseKey } = await application.mintOne({ subscriptionTier: 1 });
    return { licenseKey };
  }),
];

describe('a refusal', () => {
  test.each(cases)(
    'of %s with %s (%s) has that code, changes nothing and is logged',
    async (verb, code, _, setup) => {
      const made = await inhabited();
      const { application, session } = made;
      const members = await setup(made);
      const before = await stateBesideLog(server);
      const verdict = await askIn(session, verb, members);
      expect(verdict).toEqual({
        success: false,
        code,
        message: expect.stringMatching(/\w/),
        sessionId: session.sessionId,
        timestamp: expect.any(Number),
        v: 1,
      });
      expect(await stateBesideLog(server)).toEqual(before);
      const log = await loggedBy(application, verb);
      expect(log.at(-1)).toMatchObject({
        code,
        userId: null,
        licenseId: null,
        ip: session.client.ip,
        hwid: members.hwid,
        metadata: { username: members.username },
      });

      const texts = Object.fromEntries(messageKeys.map((key) => [key, `${key} says “nö” 🗝`]));
      await application.settings({ responseMessages: texts });
      expect(await askIn(session, verb, members)).toMatchObject({
        code,
        message: texts[code] ?? verdict.message,
      });
    },
  );

  test('at login is the same for a wrong password and an unknown name', async () => {
    const { session } = await inhabited();
    const without = ({ timestamp: _, ...verdict }: Verdict) => verdict;
    const wrong = await askIn(session, 'login', { username: 'ada', password: 'wrong password' });
    const unknown = await askIn(session, 'login', { username: 'eve', password: 'wrong password' });
    expect(without(unknown)).toEqual(without(wrong));
  });

  test('is never about a device if none is named', async () => {
    const made = await inhabited();
    await insertBan(server, made.application.id, 'hwid', 'stolen');
    await setLicense(made.fresh, bound);
    for (const verb of ['login', 'upgrade', 'register'] as const) {
      const members = granted[verb](made);
      expect((await askIn(made.session, verb, { ...members, hwid: 'stolen' })).code).toBe('HWID_BANNED');
      expectOk(await askIn(made.session, verb, { ...members, hwid: undefined }));
    }
  });

  test('about another device does not happen while the lock is off', async () => {
    const made = await inhabited();
    await setLicense(made.fresh, bound);
    await made.application.settings({ hwidLockEnabled: false });
    for (const verb of ['login', 'upgrade', 'register'] as const) {
      expectOk(await askIn(made.session, verb, { ...granted[verb](made), hwid: 'third' }));
    }
    expect(await storedLicense(server, made.fresh.id)).toMatchObject({ hwid: 'another device' });
  });
});

describe('of several reasons the first in order is returned', () => {
  test.each([
    ['register', 'REGISTER_DISABLED', { username: 'ada', password, hwid: 'stolen' }],
    ['login', 'INVALID_CREDENTIALS', { username: 'eve', password, hwid: 'stolen' }],
    ['upgrade', 'USER_NOT_FOUND', { username: 'eve', licenseKey: 'no such key', hwid: 'stolen' }],
  ] as const)('by %s: reasons about the client come first', async (verb, next, members) => {
    const { application, session } = await inhabited();
    const codes: unknown[] = [];
    const told = async () => codes.push((await askIn(session, verb, members)).code);
    await insertBan(server, application.id, 'hwid', 'stolen');
    await banAddress(application, session.client.ip);
    await application.settings({ status: 'disabled', version: '2.0.0', registrationEnabled: false });
    await told();
    await application.settings({ status: 'active' });
    await told();
    await application.settings({ version: application.version });
    await told();
    await unban(application, 'ip');
    await told();
    await unban(application, 'hwid');
    await told();
    expect(codes).toEqual(['APP_DISABLED', 'APP_OUTDATED', 'IP_BANNED', 'HWID_BANNED', next]);
  });

  /** Keys of licenses, each with one problem fewer than the one before. All are bound to another device. */
  async function worseAndBetter(application: SeededApplication) {
    const [banned, old, other] = await application.mint({ amount: 3 });
    const foreign = await (await world.createApplication()).mintOne();
    if (banned === undefined || old === undefined || other === undefined) throw new Error('minted too few');
    for (const license of [foreign, banned, old])
      await setLicense(license, `${expired}, hwid = 'another device'`);
    for (const license of [foreign, banned]) await setLicense(license, `status = 'banned'`);
    await setLicense(other, bound);
    return ['no such key', ...[foreign, banned, old, other].map(({ licenseKey }) => licenseKey)];
  }
  const aboutLicenses = ['LICENSE_NOT_FOUND', 'APP_MISMATCH', 'BANNED', 'EXPIRED', 'HWID_MISMATCH'];

  test('by register: settings, then the license, then the name', async () => {
    const made = await inhabited();
    const { application, session } = made;
    const keys = await worseAndBetter(application);
    const members = { username: 'ada', password, hwid: 'device' };
    const codes: unknown[] = [];
    const told = async (licenseKey?: string) =>
      codes.push((await askIn(session, 'register', { ...members, licenseKey })).code);
    await application.settings({ registrationEnabled: false });
    await told();
    await told('no such key');
    await application.settings({ registrationEnabled: true });
    await told();
    for (const key of keys) await told(key);
    await told(made.fresh.licenseKey);
    expect(codes).toEqual([
      'REGISTER_DISABLED',
      'REGISTER_DISABLED',
      'LICENSE_REQUIRED',
      ...aboutLicenses,
      'USERNAME_TAKEN',
    ]);
  });

  test('by upgrade: the user, then the license, then the tier', async () => {
    const { application, session } = await inhabited();
    const keys = [...(await worseAndBetter(application)), (await application.mintOne()).licenseKey];
    const codes: unknown[] = [];
    for (const licenseKey of keys) {
      codes.push((await askIn(session, 'upgrade', { username: 'ada', licenseKey, hwid: 'device' })).code);
      expect(await askIn(session, 'upgrade', { username: 'eve', licenseKey })).toMatchObject({
        code: 'USER_NOT_FOUND',
      });
    }
    expect(codes).toEqual([...aboutLicenses, 'TIER_NOT_HIGHER']);
  });

  test('by login: the password, then the license', async () => {
    const { session, license } = await inhabited();
    await sql(server, `UPDATE devices SET hwid = 'another device' WHERE license_id = $1`, [license.id]);
    const members = { username: 'ada', password, hwid: 'device' };
    for (const [code, assignments] of [
      ['BANNED', `status = 'banned', expires_at = '2020-01-01'`],
      ['EXPIRED', `status = 'active'`],
      ['HWID_MISMATCH', `expires_at = NULL`],
    ] as const) {
      await setLicense(license, assignments);
      expect((await askIn(session, 'login', { ...members, password: 'wrong' })).code).toBe(
        'INVALID_CREDENTIALS',
      );
      expect((await askIn(session, 'login', members)).code).toBe(code);
    }
  });
});

interface LoggedEntry {
  readonly code: string | null;
  readonly userId: string | null;
  readonly licenseId: string | null;
  readonly ip: string | null;
  readonly hwid: string | null;
  readonly metadata: unknown;
}

async function loggedBy(application: SeededApplication, verb: ClientVerbName): Promise<LoggedEntry[]> {
  await server.deps.services.securityLog.flush();
  return sql<LoggedEntry>(
    server,
    `SELECT code, user_id AS "userId", license_id AS "licenseId", ip, hwid, metadata FROM security_log
     WHERE application_id = $1 AND event = $2 ORDER BY id`,
    [application.id, clientEvents[verb]],
  );
}

describe('the record', () => {
  test('of a success names the user, the license, the device and the address', async () => {
    const made = await inhabited();
    for (const verb of ['login', 'upgrade', 'register'] as const) {
      const verdict = await askIn(made.session, verb, granted[verb](made));
      const log = await loggedBy(made.application, verb);
      expect(log.at(-1)).toEqual({
        code: 'OK',
        userId: (verdict.user as { id: string }).id,
        licenseId: verb === 'login' ? made.license.id : made.fresh.id,
        ip: made.session.client.ip,
        hwid: 'device',
        metadata: { username: verb === 'register' ? 'bob' : 'ada' },
      });
      expect(log).toHaveLength(verb === 'register' ? 2 : 1);
    }
  });

  test('contains no password, token or key, in the database or in the process log', async () => {
    const { application, session, fresh } = await arena();
    const { licenseKey } = await application.mintOne();
    const secret = 'Zebra-Quartz-4711';
    const registration = { username: 'ada', password: secret, licenseKey, hwid: 'device' };
    const verdicts = [
      await askIn(session, 'register', registration),
      await askIn(session, 'login', { username: 'ada', password: secret }),
      await askIn(session, 'upgrade', { username: 'ada', licenseKey: fresh.licenseKey }),
    ];
    for (const verdict of verdicts) expectOk(verdict);
    await askIn(session, 'login', { username: 'ada', password: `wrong ${secret}` });
    await askIn(session, 'register', registration);
    await askIn(session, 'register', { ...registration, username: '!' });
    await askIn(session, 'upgrade', { username: 'ada', licenseKey: 'WRONG-KEY-OF-NOBODY' });
    const written = JSON.stringify(await databaseState(server)) + server.logLines.join('');
    const tokens = verdicts.map(({ sessionToken }) => String(sessionToken));
    const keys = [licenseKey, fresh.licenseKey, 'WRONG-KEY-OF-NOBODY'];
    for (const each of [secret, session.sessionId, ...tokens, ...keys]) expect(written).not.toContain(each);
  });
});
