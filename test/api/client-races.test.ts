/** @module-tag slow */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { clientPaths } from '../../src/protocol/constants.ts';
import { askIn, type ClientVerbName, type Members, storedUser } from '../setup/end-users.ts';
import { openSession, type SealedSession } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql, storedLicense } from '../setup/stored.ts';
import { createWorld, type SeededApplication, type SeededLicense, type World } from '../setup/world.ts';

// The embedded database has one connection and hides every race (design §3), so these need a server.
const haveServer = process.env.TEST_DATABASE_URL !== undefined;
const projectOfServer = process.env.TEST_DATABASE_KIND === 'server';
if (!haveServer) process.stderr.write("Skipped: clients' races, because TEST_DATABASE_URL is not set.\n");

let server: TestServer;
let world: World;

const parallel = 30;
const rounds = 6;
const password = 'correct horse battery';

const openSessions = (application: SeededApplication, amount: number): Promise<SealedSession[]> =>
  Promise.all(Array.from({ length: amount }, () => openSession(server, application)));

/** The code of a sealed result, or of a plaintext failure with its status. */
async function codeOf(session: SealedSession, verb: ClientVerbName, members: Members): Promise<string> {
  const answer = await session.client.post(clientPaths[verb], session.seal(session.inner(members)));
  if (answer.status === 200) return String(session.open(answer).code);
  return `${answer.status} ${Object(answer.body).code}`;
}

const ofCode = (codes: readonly string[], code: string) => codes.filter((each) => each === code).length;

const expectOnly = (codes: readonly string[], allowed: readonly string[]) => {
  for (const code of codes) expect(allowed).toContain(code);
};

async function rowsOf(table: 'end_users' | 'end_user_sessions', application: SeededApplication) {
  const where = table === 'end_users' ? 'application_id = $1' : usersOf;
  const [row] = await sql<{ count: number }>(
    server,
    `SELECT count(*)::int AS count FROM ${table} WHERE ${where}`,
    [application.id],
  );
  return row?.count;
}
const usersOf = 'end_user_id IN (SELECT id FROM end_users WHERE application_id = $1)';

/** Makes a change during continuous requests. Returns the results of requests begun before and after its response. */
async function whileAsking(
  change: () => Promise<void>,
  ask: (turn: number) => Promise<string>,
  atOnce = 6,
): Promise<{ during: string[]; after: string[] }> {
  const during: string[] = [];
  const after: string[] = [];
  let changed = false;
  let turn = 0;
  const keepAsking = async () => {
    for (let remaining = 2; remaining > 0; ) {
      const begunAfter = changed;
      if (begunAfter) remaining--;
      (begunAfter ? after : during).push(await ask(turn++));
    }
  };
  const askers = Array.from({ length: atOnce }, keepAsking);
  await change().finally(() => {
    changed = true;
  });
  await Promise.all(askers);
  return { during, after };
}

async function deleted(path: string): Promise<void> {
  const answer = await world.client.delete(path);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

async function ban(license: SeededLicense, body?: Members): Promise<void> {
  const answer = await world.client.post(`/api/v1/licenses/${license.id}/ban`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

describe.skipIf(!haveServer || !projectOfServer)("clients' races on a PostgreSQL server", () => {
  beforeAll(async () => {
    const RATE_LIMITS = 'clientAuth=1000000,validate=1000000,session=1000000';
    server = await startTestServer({ database: 'server', env: { RATE_LIMITS } });
    world = await createWorld(server);
  });
  // After each race: no unexpected failures and no deadlocks.
  afterAll(async () => {
    try {
      await server.deps.services.securityLog.flush();
      expect(server.logLines.filter((line) => /"level":(50|60)|deadlock|40P01/.test(line))).toEqual([]);
    } finally {
      await server.close();
    }
  });

  test('of 30 registrations of one name one is OK and the others are USERNAME_TAKEN', async () => {
    const application = await world.createApplication();
    const sessions = await openSessions(application, parallel);
    const licenses = await application.mint({ amount: parallel });
    const codes = await Promise.all(
      sessions.map((session, index) =>
        codeOf(session, 'register', {
          username: 'ada',
          password,
          licenseKey: licenses[index]?.licenseKey,
          hwid: `device-${index}`,
        }),
      ),
    );
    expect([ofCode(codes, 'OK'), ofCode(codes, 'USERNAME_TAKEN')]).toEqual([1, parallel - 1]);
    expect(await rowsOf('end_users', application)).toBe(1);
    expect(await rowsOf('end_user_sessions', application)).toBe(1);
    const winner = codes.indexOf('OK');
    expect(await storedUser(server, application, 'ada')).toMatchObject({
      licenseId: licenses[winner]?.id,
      lastHwid: `device-${winner}`,
    });
    const stored = await Promise.all(licenses.map(({ id }) => storedLicense(server, id)));
    expect(stored.map((license) => license?.status)).toEqual(
      codes.map((code) => (code === 'OK' ? 'active' : 'unused')),
    );
  });

  test('of 30 registrations with one key on 30 devices one binds, and there is no other user', async () => {
    for (let round = 0; round < 3; round++) {
      const application = await world.createApplication();
      const sessions = await openSessions(application, parallel);
      const { id, licenseKey } = await application.mintOne({ durationSeconds: 3600 });
      const codes = await Promise.all(
        sessions.map((session, index) =>
          codeOf(session, 'register', {
            username: `user-${index}`,
            password,
            licenseKey,
            hwid: `device-${index}`,
          }),
        ),
      );
      expect([ofCode(codes, 'OK'), ofCode(codes, 'HWID_MISMATCH')]).toEqual([1, parallel - 1]);
      const winner = codes.indexOf('OK');
      expect(await storedLicense(server, id)).toMatchObject({ status: 'active', hwid: `device-${winner}` });
      expect(await rowsOf('end_users', application)).toBe(1);
      expect(await storedUser(server, application, `user-${winner}`)).toMatchObject({ licenseId: id });
    }
  });

  /** A user with a license of tier 1, and sessions for requests. */
  async function inhabited(amount: number) {
    const application = await world.createApplication();
    const license = await application.mintOne({ subscriptionTier: 1 });
    const sessions = await openSessions(application, amount);
    const user = { username: 'ada', password };
    const { licenseKey } = license;
    const session = (turn: number) => sessions[turn % amount] ?? expect.fail('no sessions');
    const registered = await askIn(session(0), 'register', { ...user, licenseKey, hwid: 'device' });
    expect(registered).toMatchObject({ code: 'OK' });
    const { id } = (await storedUser(server, application, 'ada')) ?? expect.fail('nobody is there');
    return { application, license, session, user, userId: id };
  }

  test('of parallel upgrades to keys of one tier one is OK, and the others stay unused', async () => {
    for (let round = 0; round < rounds; round++) {
      const { application, session } = await inhabited(8);
      const keys = await application.mint({ amount: 8, subscriptionTier: 2 });
      const codes = await Promise.all(
        keys.map(({ licenseKey }, turn) => codeOf(session(turn), 'upgrade', { username: 'ada', licenseKey })),
      );
      expect([ofCode(codes, 'OK'), ofCode(codes, 'TIER_NOT_HIGHER')]).toEqual([1, 7]);
      expect(await storedUser(server, application, 'ada')).toMatchObject({
        licenseId: keys[codes.indexOf('OK')]?.id,
      });
      const stored = await Promise.all(keys.map(({ id }) => storedLicense(server, id)));
      expect(stored.filter((license) => license?.status === 'active')).toHaveLength(1);
    }
  });

  test('after parallel upgrades to two tiers the user has the higher one', async () => {
    for (let round = 0; round < rounds; round++) {
      const { application, session } = await inhabited(2);
      const two = await application.mintOne({ subscriptionTier: 2 });
      const three = await application.mintOne({ subscriptionTier: 3 });
      const [lower, higher] = await Promise.all(
        [two, three].map(({ licenseKey }, turn) =>
          codeOf(session(turn), 'upgrade', { username: 'ada', licenseKey }),
        ),
      );
      expect(higher).toBe('OK');
      expectOnly([String(lower)], ['OK', 'TIER_NOT_HIGHER']);
      expect(await storedUser(server, application, 'ada')).toMatchObject({ licenseId: three.id });
    }
  });

  test('a login while its user is deleted is OK or INVALID_CREDENTIALS, and afterwards only that', async () => {
    for (let round = 0; round < rounds; round++) {
      const { application, license, session, user, userId } = await inhabited(6);
      const { during, after } = await whileAsking(
        () => deleted(`/api/v1/apps/${application.id}/users/${userId}`),
        (turn) => codeOf(session(turn), 'login', user),
      );
      expectOnly(during, ['OK', 'INVALID_CREDENTIALS']);
      expectOnly(after, ['INVALID_CREDENTIALS']);
      expect(await rowsOf('end_users', application)).toBe(0);
      expect(await storedLicense(server, license.id)).toMatchObject({ status: 'active' });
    }
  });

  test('a login or upgrade while a license is deleted has no unexpected failure', async () => {
    for (let round = 0; round < rounds; round++) {
      const { application, license, session, user } = await inhabited(6);
      const higher = await application.mintOne({ subscriptionTier: 2 });
      const { licenseKey } = higher;
      const { during, after } = await whileAsking(
        async () => {
          await deleted(`/api/v1/licenses/${license.id}`);
          await deleted(`/api/v1/licenses/${higher.id}`);
        },
        (turn) =>
          turn % 2 === 0
            ? codeOf(session(turn), 'login', user)
            : codeOf(session(turn), 'upgrade', { username: 'ada', licenseKey }),
      );
      expectOnly(during, ['OK', 'TIER_NOT_HIGHER', 'LICENSE_NOT_FOUND']);
      expectOnly(after, ['OK', 'LICENSE_NOT_FOUND']);
      expect(await storedUser(server, application, 'ada')).toMatchObject({ licenseId: null });
    }
  });

  test('a registration while its license is deleted creates a user only if it is OK', async () => {
    for (let round = 0; round < rounds; round++) {
      const application = await world.createApplication();
      const sessions = await openSessions(application, 6);
      const license = await application.mintOne();
      const names: [string, string][] = [];
      const { during, after } = await whileAsking(
        () => deleted(`/api/v1/licenses/${license.id}`),
        async (turn) => {
          const session = sessions[turn % 6] ?? expect.fail('no sessions');
          const username = `user-${turn}`;
          const { licenseKey } = license;
          const code = await codeOf(session, 'register', { username, password, licenseKey, hwid: 'device' });
          names.push([username, code]);
          return code;
        },
      );
      expectOnly(during, ['OK', 'LICENSE_NOT_FOUND']);
      expectOnly(after, ['LICENSE_NOT_FOUND']);
      for (const [username, code] of names) {
        expect(await storedUser(server, application, username)).toEqual(
          code === 'OK' ? expect.objectContaining({ licenseId: null }) : undefined,
        );
      }
    }
  });

  test('requests while the application is deleted are SESSION_EXPIRED afterwards, and leave no data', async () => {
    for (let round = 0; round < 3; round++) {
      const { application, session, user } = await inhabited(6);
      const { licenseKey } = await application.mintOne({ subscriptionTier: 2 });
      const asks = [
        (turn: number) => codeOf(session(turn), 'login', user),
        (turn: number) => codeOf(session(turn), 'upgrade', { username: 'ada', licenseKey }),
        (turn: number) =>
          codeOf(session(turn), 'register', { username: `user-${turn}`, password, licenseKey }),
      ];
      const { during, after } = await whileAsking(
        () => deleted(`/api/v1/apps/${application.id}`),
        (turn) => asks[turn % 3]?.(turn) ?? expect.fail('no verb'),
        // PostgreSQL lets further holders of the row pass a deletion that waits for it: few requests leave it gaps.
        2,
      );
      expectOnly(during, [
        'OK',
        'TIER_NOT_HIGHER',
        // A running request may find no user, no license or no application.
        'INVALID_CREDENTIALS',
        'USER_NOT_FOUND',
        'LICENSE_NOT_FOUND',
        '401 SESSION_EXPIRED',
      ]);
      expectOnly(after, ['401 SESSION_EXPIRED']);
      expect(await rowsOf('end_users', application)).toBe(0);
    }
  }, 120_000);

  test.each([
    ['the license', undefined, 'BANNED'],
    ['the device', { scope: 'hwid' }, 'HWID_BANNED'],
  ])('after the response to a ban of %s no login is OK', async (_what, scope, code) => {
    for (let round = 0; round < rounds; round++) {
      const { license, session, user } = await inhabited(6);
      const { during, after } = await whileAsking(
        () => ban(license, scope),
        (turn) => codeOf(session(turn), 'login', { ...user, hwid: 'device' }),
      );
      expectOnly(during, ['OK', 'BANNED', code]);
      expectOnly(after, [code]);
    }
  });

  test('a login that waits for an upgrade to a license that is being deleted gets a response', async () => {
    const { application, session, user, userId } = await inhabited(1);
    const higher = await application.mintOne({ subscriptionTier: 2 });
    const upgrade = new pg.Client({ connectionString: String(server.databaseEnv.DATABASE_URL) });
    await upgrade.connect();
    try {
      // The statements of an upgrade, before its commit.
      await upgrade.query('BEGIN');
      await upgrade.query('SELECT 1 FROM applications WHERE id = $1 FOR KEY SHARE', [application.id]);
      await upgrade.query('SELECT 1 FROM end_users WHERE id = $1 FOR UPDATE', [userId]);
      await upgrade.query('SELECT 1 FROM licenses WHERE id = $1 FOR NO KEY UPDATE', [higher.id]);
      await upgrade.query('UPDATE end_users SET license_id = $1 WHERE id = $2', [higher.id, userId]);
      const waiting = async (count: number) => {
        await vi.waitFor(
          async () => {
            const rows = await sql(
              server,
              `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
            );
            expect(rows).toHaveLength(count);
          },
          { timeout: 10_000, interval: 20 },
        );
      };
      const login = codeOf(session(0), 'login', user); // waits for the user
      await waiting(1);
      const deletion = world.client.delete(`/api/v1/licenses/${higher.id}`); // saw no user of the license; waits for it
      await waiting(2);
      await upgrade.query('COMMIT');
      expect(['OK', 'LICENSE_NOT_FOUND']).toContain(await login);
      expect((await deletion).status).toBe(200);
    } finally {
      await upgrade.end();
    }
  });
});
