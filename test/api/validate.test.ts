import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { canonicalJson } from '../../src/protocol/canonical-json.ts';
import { openEnvelope } from '../../src/protocol/envelope.ts';
import { ApiClient } from '../setup/api-client.ts';
import { expectRefusal } from '../setup/refusal.ts';
import { openSession, type SealedSession, validatePath } from '../setup/sealed-client.ts';
import { databaseState, insertBan, sql, storedLicense, storedLog } from '../setup/stored.ts';
import { useWorld } from '../setup/use-world.ts';
import { createWorld, type SeededApplication } from '../setup/world.ts';

const { server, world } = useWorld();

type Verdict = Record<string, unknown>;

/** Validates in a new session from a separate address. */
async function validate(application: SeededApplication, members: Record<string, unknown>): Promise<Verdict> {
  return (await openSession(server, application)).ask(validatePath, members);
}

async function ban(licenseId: string, body?: Record<string, unknown>): Promise<void> {
  const answer = await world.client.post(`/api/v1/licenses/${licenseId}/ban`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
}

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

const iso = (milliseconds: number) => new Date(milliseconds).toISOString();

const expectFailure = (verdict: Verdict, code: string) =>
  expect(verdict).toMatchObject({ success: false, code, status: null, expiresAt: null });
const expectOk = (verdict: Verdict) => expect(verdict).toMatchObject({ success: true, code: 'OK' });

describe('the answer', () => {
  test('to a valid license has exactly the documented fields', () =>
    withHeldClock(async () => {
      const application = await world.createApplication();
      const { licenseKey } = await application.mintOne({ durationSeconds: 3600, subscriptionTier: 7 });
      const session = await openSession(server, application);
      expect(await session.ask(validatePath, { licenseKey, hwid: 'device' })).toEqual({
        success: true,
        code: 'OK',
        message: 'License is valid.',
        status: 'active',
        expiresAt: iso(server.clock.now() + 3_600_000),
        subscriptionTier: 7,
        sessionId: session.sessionId,
        timestamp: Math.floor(server.clock.now() / 1000),
        v: 1,
      });
    }));

  test('to a refused license has exactly the documented fields', () =>
    withHeldClock(async () => {
      const application = await world.createApplication();
      const session = await openSession(server, application);
      expect(await session.ask(validatePath, { licenseKey: 'AAAAA-BBBBB' })).toEqual({
        success: false,
        code: 'LICENSE_NOT_FOUND',
        message: 'License key not found.',
        status: null,
        expiresAt: null,
        sessionId: session.sessionId,
        timestamp: Math.floor(server.clock.now() / 1000),
        v: 1,
      });
    }));

  test('is sealed under a new IV, and its plaintext is canonical JSON', async () => {
    const application = await world.createApplication();
    await application.settings({ responseMessages: { OK: 'Größe \u2028 "läuft" \\ €\n' } });
    const { licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    const sealed = z.strictObject({
      sessionId: z.literal(session.sessionId),
      ivB64: z.string(),
      ciphertextB64: z.string(),
      tagB64: z.string(),
      signatureB64: z.string(),
    });
    const ivs = new Set<string>();
    for (let asked = 0; asked < 5; asked++) {
      const answer = await session.client.post(validatePath, session.seal(session.inner({ licenseKey })));
      const envelope = sealed.parse(answer.body);
      ivs.add(envelope.ivB64);
      const text = new TextDecoder().decode(openEnvelope(session.sessionKey, envelope) ?? undefined);
      expect(text).toBe(canonicalJson(JSON.parse(text)));
      expectOk(session.open(answer));
    }
    expect(ivs.size).toBe(5);
  });

  test('is the same for repeated requests of one session', async () => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne({ durationSeconds: 60 });
    const session = await openSession(server, application);
    const first = await session.ask(validatePath, { licenseKey });
    for (let asked = 0; asked < 5; asked++) {
      expect((await session.ask(validatePath, { licenseKey })).expiresAt).toBe(first.expiresAt);
    }
  });

  test('has the tier, whatever it is', async () => {
    const application = await world.createApplication();
    for (const subscriptionTier of [0, 1, 2_147_483_647]) {
      const { licenseKey } = await application.mintOne({ subscriptionTier });
      expect(await validate(application, { licenseKey })).toMatchObject({ success: true, subscriptionTier });
    }
  });
});

describe('first use', () => {
  test('starts the duration only once', () =>
    withHeldClock(async () => {
      const application = await world.createApplication();
      const { id, licenseKey } = await application.mintOne({ durationSeconds: 3600 });
      expect(await storedLicense(server, id)).toEqual({
        status: 'unused',
        activatedAt: null,
        expiresAt: null,
        hwid: null,
        lastIp: null,
      });
      server.clock.step(86_400);
      const started = server.clock.now();
      const end = iso(started + 3_600_000);
      expect(await validate(application, { licenseKey, hwid: 'device' })).toMatchObject({ expiresAt: end });
      expect(await storedLicense(server, id)).toMatchObject({
        status: 'active',
        activatedAt: new Date(started),
        expiresAt: new Date(started + 3_600_000),
        hwid: 'device',
      });
      server.clock.step(600);
      expect(await validate(application, { licenseKey, hwid: 'device' })).toMatchObject({ expiresAt: end });
      expect(await storedLicense(server, id)).toMatchObject({ activatedAt: new Date(started) });
    }));

  test('starts the duration even without a HWID, and binding a device later does not restart it', () =>
    withHeldClock(async () => {
      const application = await world.createApplication();
      const { id, licenseKey } = await application.mintOne({ durationSeconds: 3600 });
      const end = iso(server.clock.now() + 3_600_000);
      expect(await validate(application, { licenseKey })).toMatchObject({ expiresAt: end });
      server.clock.step(60);
      expect(await validate(application, { licenseKey, hwid: 'late' })).toMatchObject({ expiresAt: end });
      expect(await storedLicense(server, id)).toMatchObject({ hwid: 'late', expiresAt: new Date(end) });
    }));

  test('of 0 seconds starts a license that never expires', () =>
    withHeldClock(async () => {
      const application = await world.createApplication();
      const { id, licenseKey } = await application.mintOne({ durationSeconds: 0 });
      expect(await validate(application, { licenseKey })).toMatchObject({ success: true, expiresAt: null });
      server.clock.step(20 * 365 * 86_400);
      expect(await validate(application, { licenseKey })).toMatchObject({ success: true, expiresAt: null });
      expect(await storedLicense(server, id)).toMatchObject({ status: 'active', expiresAt: null });
    }));

  test('that is refused does not start the duration', async () => {
    const application = await world.createApplication();
    const { id, licenseKey } = await application.mintOne({ durationSeconds: 3600 });
    const session = await openSession(server, application);
    await application.settings({ version: '2.0.0' });
    expectFailure(await session.ask(validatePath, { licenseKey, hwid: 'device' }), 'APP_OUTDATED');
    expect(await storedLicense(server, id)).toMatchObject({
      status: 'unused',
      activatedAt: null,
      hwid: null,
    });
  });
});

describe('expiry', () => {
  test('happens exactly at expiresAt, and validation does not undo it', () =>
    withHeldClock(async () => {
      const application = await world.createApplication();
      const { licenseKey } = await application.mintOne({ durationSeconds: 120 });
      expectOk(await validate(application, { licenseKey }));
      server.clock.step(119.999);
      expectOk(await validate(application, { licenseKey }));
      server.clock.step(0.001);
      expectFailure(await validate(application, { licenseKey }), 'EXPIRED');
      expectFailure(await validate(application, { licenseKey, hwid: 'device' }), 'EXPIRED');
    }));

  test('binds no device', () =>
    withHeldClock(async () => {
      const application = await world.createApplication();
      const { id, licenseKey } = await application.mintOne({ durationSeconds: 1 });
      expectOk(await validate(application, { licenseKey }));
      server.clock.step(2);
      expectFailure(await validate(application, { licenseKey, hwid: 'device' }), 'EXPIRED');
      expect(await storedLicense(server, id)).toMatchObject({ status: 'active', hwid: null });
    }));
});

describe('a device', () => {
  test('is bound by the first success, and every other one is refused', async () => {
    const application = await world.createApplication();
    const { id, licenseKey } = await application.mintOne();
    expectOk(await validate(application, { licenseKey, hwid: 'Device-1' }));
    for (const hwid of ['device-1', 'Device-1 ', 'Device-2', 'Device-1\u200b']) {
      expectFailure(await validate(application, { licenseKey, hwid }), 'HWID_MISMATCH');
    }
    expectOk(await validate(application, { licenseKey, hwid: 'Device-1' }));
    expect(await storedLicense(server, id)).toMatchObject({ hwid: 'Device-1' });
  });

  test('that is not named is neither checked nor bound', async () => {
    const application = await world.createApplication();
    const { id, licenseKey } = await application.mintOne();
    expectOk(await validate(application, { licenseKey }));
    expect(await storedLicense(server, id)).toMatchObject({ status: 'active', hwid: null });
    expectOk(await validate(application, { licenseKey, hwid: 'device' }));
    expectOk(await validate(application, { licenseKey }));
    expect(await storedLicense(server, id)).toMatchObject({ hwid: 'device' });
  });

  test('is neither bound nor checked while the lock is off, and is checked again once it is on', async () => {
    const application = await world.createApplication();
    const bound = await application.mintOne();
    const free = await application.mintOne();
    expectOk(await validate(application, { licenseKey: bound.licenseKey, hwid: 'first' }));
    await application.settings({ hwidLockEnabled: false });
    expectOk(await validate(application, { licenseKey: bound.licenseKey, hwid: 'second' }));
    expectOk(await validate(application, { licenseKey: free.licenseKey, hwid: 'second' }));
    expect(await storedLicense(server, bound.id)).toMatchObject({ hwid: 'first' });
    expect(await storedLicense(server, free.id)).toMatchObject({ status: 'active', hwid: null });
    await application.settings({ hwidLockEnabled: true });
    expectFailure(
      await validate(application, { licenseKey: bound.licenseKey, hwid: 'second' }),
      'HWID_MISMATCH',
    );
  });
});

describe('a ban', () => {
  test('of a license applies in open sessions and on any device', async () => {
    const application = await world.createApplication();
    const { id, licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    expectOk(await session.ask(validatePath, { licenseKey, hwid: 'device' }));
    await ban(id);
    expectFailure(await session.ask(validatePath, { licenseKey, hwid: 'device' }), 'BANNED');
    expectFailure(await session.ask(validatePath, { licenseKey }), 'BANNED');
    expectFailure(await validate(application, { licenseKey, hwid: 'other' }), 'BANNED');
  });

  test('of an unused license does not start it', async () => {
    const application = await world.createApplication();
    const { id, licenseKey } = await application.mintOne({ durationSeconds: 60 });
    await ban(id);
    expectFailure(await validate(application, { licenseKey, hwid: 'device' }), 'BANNED');
    expect(await storedLicense(server, id)).toMatchObject({
      status: 'banned',
      activatedAt: null,
      expiresAt: null,
      hwid: null,
    });
  });

  test('of a device applies to every license of the application if the device is named', async () => {
    const application = await world.createApplication();
    const [first, second] = await application.mint({ amount: 2 });
    if (first === undefined || second === undefined) throw new Error('two licenses were asked for');
    expectOk(await validate(application, { licenseKey: first.licenseKey, hwid: 'stolen' }));
    const session = await openSession(server, application);
    expectOk(await session.ask(validatePath, { licenseKey: second.licenseKey }));
    await ban(first.id, { scope: 'hwid' });
    expectFailure(
      await session.ask(validatePath, { licenseKey: first.licenseKey, hwid: 'stolen' }),
      'HWID_BANNED',
    );
    expectFailure(await session.ask(validatePath, { licenseKey: first.licenseKey }), 'BANNED');
    expectFailure(
      await session.ask(validatePath, { licenseKey: second.licenseKey, hwid: 'stolen' }),
      'HWID_BANNED',
    );
    expectFailure(
      await session.ask(validatePath, { licenseKey: 'no such key', hwid: 'stolen' }),
      'HWID_BANNED',
    );
    expectOk(await session.ask(validatePath, { licenseKey: second.licenseKey }));
    expectOk(await session.ask(validatePath, { licenseKey: second.licenseKey, hwid: 'Stolen' }));
  });

  test('of a device applies even with the lock off', async () => {
    const application = await world.createApplication();
    await application.settings({ hwidLockEnabled: false });
    await insertBan(server, application.id, 'hwid', 'stolen');
    const { licenseKey } = await application.mintOne();
    expectFailure(await validate(application, { licenseKey, hwid: 'stolen' }), 'HWID_BANNED');
  });

  test('of device and address uses the last address of the license', async () => {
    const application = await world.createApplication();
    const [first, second] = await application.mint({ amount: 2 });
    if (first === undefined || second === undefined) throw new Error('two licenses were asked for');
    const session = await openSession(server, application);
    expectOk(await session.ask(validatePath, { licenseKey: first.licenseKey, hwid: 'device' }));
    await ban(first.id, { scope: 'hwid_and_ip' });
    expectFailure(await session.ask(validatePath, { licenseKey: second.licenseKey }), 'IP_BANNED');
    expectFailure(
      await validate(application, { licenseKey: second.licenseKey, hwid: 'device' }),
      'HWID_BANNED',
    );
    expectOk(await validate(application, { licenseKey: second.licenseKey }));
    expect(
      await sql(
        server,
        'SELECT ban_type::text AS type, value FROM bans WHERE application_id = $1 ORDER BY 1',
        [application.id],
      ),
    ).toEqual([
      { type: 'hwid', value: 'device' },
      { type: 'ip', value: session.client.ip },
    ]);
  });

  test('of an address applies in an open session, and precedes that of a device', async () => {
    const application = await world.createApplication();
    const { id, licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    await ban(id, { scope: 'hwid_and_ip', ip: session.client.ip });
    await insertBan(server, application.id, 'hwid', 'stolen');
    expectFailure(await session.ask(validatePath, { licenseKey, hwid: 'stolen' }), 'IP_BANNED');
    const other = await openSession(server, application);
    expectFailure(await other.ask(validatePath, { licenseKey, hwid: 'stolen' }), 'HWID_BANNED');
  });

  test('row applies only to its own application', async () => {
    const application = await world.createApplication();
    const other = await world.createApplication();
    const client = new ApiClient(server.baseUrl);
    await insertBan(server, application.id, 'hwid', 'stolen');
    const ours = await application.mintOne();
    const theirs = await other.mintOne();
    expectFailure(
      await validate(application, { licenseKey: ours.licenseKey, hwid: 'stolen' }),
      'HWID_BANNED',
    );
    expectOk(await validate(other, { licenseKey: theirs.licenseKey, hwid: 'stolen' }));
    // The session is opened from another address, because the banned one cannot open it.
    const session = await openSession(server, application);
    await insertBan(server, application.id, 'ip', client.ip);
    const answer = await client.post(
      validatePath,
      session.seal(session.inner({ licenseKey: ours.licenseKey })),
    );
    expectFailure(session.open(answer), 'IP_BANNED');
    const elsewhere = await openSession(server, other, { client });
    expectOk(await elsewhere.ask(validatePath, { licenseKey: theirs.licenseKey, hwid: 'stolen' }));
  });
});

describe('a key', () => {
  test('of another application is APP_MISMATCH, whoever owns it, and is not changed', async () => {
    const application = await world.createApplication();
    const stranger = await createWorld(server);
    for (const other of [await world.createApplication(), await stranger.createApplication()]) {
      const { id, licenseKey } = await other.mintOne({ durationSeconds: 60 });
      const before = await databaseState(server);
      expectFailure(await validate(application, { licenseKey, hwid: 'device' }), 'APP_MISMATCH');
      expect((await databaseState(server)).licenses).toEqual(before.licenses);
      expectOk(await validate(other, { licenseKey }));
      expect(await storedLog(server, application.id, 'license_validated')).not.toContainEqual(
        expect.objectContaining({ licenseId: id }),
      );
    }
  });

  test('is LICENSE_NOT_FOUND if it differs in any way', async () => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    for (const wrong of [
      licenseKey.toLowerCase(),
      ` ${licenseKey}`,
      `${licenseKey} `,
      licenseKey.replaceAll('-', ''),
      licenseKey.slice(0, -1),
    ]) {
      expectFailure(await session.ask(validatePath, { licenseKey: wrong }), 'LICENSE_NOT_FOUND');
    }
    expectOk(await session.ask(validatePath, { licenseKey }));
  });

  test('of a deleted application is LICENSE_NOT_FOUND elsewhere', async () => {
    const application = await world.createApplication();
    const other = await world.createApplication();
    const { licenseKey } = await other.mintOne();
    expectFailure(await validate(application, { licenseKey }), 'APP_MISMATCH');
    expect((await world.client.delete(`/api/v1/apps/${other.id}`)).status).toBe(200);
    expectFailure(await validate(application, { licenseKey }), 'LICENSE_NOT_FOUND');
  });
});

describe('an open session', () => {
  const seed = async (): Promise<[SeededApplication, SealedSession, string]> => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    expectOk(await session.ask(validatePath, { licenseKey }));
    return [application, session, licenseKey];
  };

  test('is APP_OUTDATED after a change of version, and valid again after changing it back', async () => {
    const [application, session, licenseKey] = await seed();
    await application.settings({ version: '2.0.0' });
    expectFailure(await session.ask(validatePath, { licenseKey }), 'APP_OUTDATED');
    await application.settings({ version: application.version });
    expectOk(await session.ask(validatePath, { licenseKey }));
  });

  test('is APP_DISABLED while the application is disabled, before all other checks', async () => {
    const [application, session, licenseKey] = await seed();
    await application.settings({ status: 'disabled', version: '2.0.0' });
    expectFailure(await session.ask(validatePath, { licenseKey }), 'APP_DISABLED');
    expectFailure(await session.ask(validatePath, { licenseKey: 'no such key' }), 'APP_DISABLED');
    await application.settings({ status: 'active' });
    expectFailure(await session.ask(validatePath, { licenseKey: 'no such key' }), 'APP_OUTDATED');
  });

  test('of a deleted application is SESSION_EXPIRED', async () => {
    const [application, session, licenseKey] = await seed();
    expect((await world.client.delete(`/api/v1/apps/${application.id}`)).status).toBe(200);
    const answer = await session.client.post(validatePath, session.seal(session.inner({ licenseKey })));
    expectRefusal(answer, 401, 'SESSION_EXPIRED');
  });

  test('serves other addresses than the one that opened it', async () => {
    const [, session, licenseKey] = await seed();
    const answer = await new ApiClient(server.baseUrl).post(
      validatePath,
      session.seal(session.inner({ licenseKey })),
    );
    expectOk(session.open(answer));
  });
});

test("each verdict has the developer's message", async () => {
  const application = await world.createApplication();
  const other = await world.createApplication();
  const [good, bound, banned, short] = await application.mint({ amount: 4, durationSeconds: 600 });
  if (good === undefined || bound === undefined || banned === undefined || short === undefined) {
    throw new Error('four licenses were asked for');
  }
  expectOk(await validate(application, { licenseKey: bound.licenseKey, hwid: 'first' }));
  await ban(banned.id);
  await insertBan(server, application.id, 'hwid', 'stolen');
  await sql(
    server,
    `UPDATE licenses SET status = 'active', activated_at = now(), expires_at = '2020-01-01' WHERE id = $1`,
    [short.id],
  );
  const mismatched = await other.mintOne();
  const asked: Record<string, Record<string, unknown>> = {
    OK: { licenseKey: good.licenseKey },
    LICENSE_NOT_FOUND: { licenseKey: 'no such key' },
    BANNED: { licenseKey: banned.licenseKey },
    EXPIRED: { licenseKey: short.licenseKey },
    HWID_MISMATCH: { licenseKey: bound.licenseKey, hwid: 'second' },
    HWID_BANNED: { licenseKey: good.licenseKey, hwid: 'stolen' },
    APP_MISMATCH: { licenseKey: mismatched.licenseKey },
  };
  const standard = new Map<string, unknown>();
  for (const [code, members] of Object.entries(asked)) {
    const verdict = await validate(application, members);
    expect(verdict.code).toBe(code);
    expect(verdict.message).toMatch(/\w/);
    standard.set(code, verdict.message);
  }
  expect(new Set(standard.values()).size).toBe(standard.size);

  const { APP_MISMATCH: _, ...editable } = asked;
  const texts = Object.fromEntries(Object.keys(editable).map((code) => [code, `${code} 🗝 “${code}” äöü`]));
  await application.settings({ responseMessages: texts });
  for (const [code, members] of Object.entries(asked)) {
    expect(await validate(application, members)).toMatchObject({
      code,
      message: texts[code] ?? standard.get(code),
    });
  }
});

describe('the record', () => {
  test('of a result is stored in the database automatically', async () => {
    const application = await world.createApplication();
    const { id, licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    expectOk(await session.ask(validatePath, { licenseKey, hwid: 'device' }));
    await vi.waitFor(
      async () => {
        expect(await storedLicense(server, id)).toMatchObject({ lastIp: session.client.ip });
        const entries = await sql(
          server,
          `SELECT code FROM security_log WHERE application_id = $1 AND event = 'license_validated'`,
          [application.id],
        );
        expect(entries).toEqual([{ code: 'OK' }]);
      },
      { timeout: 10_000, interval: 50 },
    );
  });

  test('has the verdict, license, device and address, and marks the first use', async () => {
    const application = await world.createApplication();
    const { id, licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    const ask = (members: Record<string, unknown>) => session.ask(validatePath, members);
    await ask({ licenseKey });
    await ask({ licenseKey, hwid: 'device' });
    await ask({ licenseKey, hwid: 'device' });
    await ask({ licenseKey, hwid: 'other' });
    await ask({ licenseKey: 'no such key' });
    const entry = { event: 'license_validated', ip: session.client.ip, licenseId: id };
    expect(await storedLog(server, application.id, 'license_validated')).toEqual([
      { ...entry, code: 'OK', hwid: null, metadata: { activated: true, bound: false } },
      { ...entry, code: 'OK', hwid: 'device', metadata: { activated: false, bound: true } },
      { ...entry, code: 'OK', hwid: 'device', metadata: {} },
      { ...entry, code: 'HWID_MISMATCH', hwid: 'other', metadata: {} },
      { ...entry, code: 'LICENSE_NOT_FOUND', licenseId: null, hwid: null, metadata: {} },
    ]);
  });

  test('of the last address is the latest one', async () => {
    const application = await world.createApplication();
    const { id, licenseKey } = await application.mintOne();
    for (const ip of ['10.9.0.1', '2001:DB8::1', '::ffff:10.9.0.3']) {
      const client = new ApiClient(server.baseUrl, { ip });
      expectOk(await (await openSession(server, application, { client })).ask(validatePath, { licenseKey }));
      await server.deps.services.securityLog.flush();
      const lastIp = { '2001:DB8::1': '2001:db8::1', '::ffff:10.9.0.3': '10.9.0.3' }[ip] ?? ip;
      expect(await storedLicense(server, id)).toMatchObject({ lastIp });
    }
  });

  test('contains no key, in the database or in the process log', async () => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    await session.ask(validatePath, { licenseKey, hwid: 'device' });
    await session.ask(validatePath, { licenseKey: 'WRONG-KEY-OF-NOBODY', hwid: 'device' });
    const written = JSON.stringify(await databaseState(server)) + server.logLines.join('');
    for (const secret of [licenseKey, licenseKey.slice(6), 'WRONG-KEY-OF-NOBODY', session.sessionId]) {
      expect(written).not.toContain(secret);
    }
  });
});

describe('the nonce', () => {
  test('is in the signed response if it was requested, whatever the verdict', async () => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    for (const members of [{ licenseKey }, { licenseKey: 'no such key' }, { licenseKey: 7 }]) {
      const inner = session.inner({ ...members, echoNonce: true });
      const verdict = session.open(await session.client.post(validatePath, session.seal(inner)));
      expect(verdict.nonce).toBe(inner.nonce);
    }
  });

  test('is absent if it was not requested', async () => {
    const application = await world.createApplication();
    const { licenseKey } = await application.mintOne();
    const session = await openSession(server, application);
    expect(await session.ask(validatePath, { licenseKey })).not.toHaveProperty('nonce');
    expect(await session.ask(validatePath, { licenseKey, echoNonce: false })).not.toHaveProperty('nonce');
  });
});

test('unknown members of the request are ignored, in the inner and outer body', async () => {
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  const session = await openSession(server, application);
  const inner = session.inner({
    licenseKey,
    success: true,
    appId: 'another',
    clientVersion: '0.0.1',
    deviceName: ['Ada', { of: 'London' }],
    toString: null,
  });
  const text = JSON.stringify(inner).replace(/}$/, ',"__proto__":{"hwid":7},"constructor":1}');
  const answer = await session.client.post(validatePath, { ...session.seal(text), extra: [1], v: 2 });
  const verdict = session.open(answer);
  expectOk(verdict);
  expect(Object.keys(verdict).sort()).toEqual([
    'code',
    'expiresAt',
    'message',
    'sessionId',
    'status',
    'subscriptionTier',
    'success',
    'timestamp',
    'v',
  ]);
});

test('the limit is 120 a minute per address, whatever the request, and does not affect other addresses', async () => {
  const application = await world.createApplication();
  const { licenseKey } = await application.mintOne();
  const session = await openSession(server, application);
  const malformed = await Promise.all(
    Array.from({ length: 119 }, () => session.client.post(validatePath, {})),
  );
  expect(new Set(malformed.map(({ status }) => status))).toEqual(new Set([400]));
  const last = await session.client.post(validatePath, session.seal(session.inner({ licenseKey })));
  expectOk(session.open(last));
  expect(last.headers.get('ratelimit-limit')).toBe('120');
  expect(last.headers.get('ratelimit-remaining')).toBe('0');
  const envelope = session.seal(session.inner({ licenseKey }));
  const over = await session.client.post(validatePath, envelope);
  expectRefusal(over, 429, 'RATE_LIMITED');
  expect(Number(over.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expectOk(session.open(await new ApiClient(server.baseUrl).post(validatePath, envelope)));
});
