import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { newId } from '../../src/lib/ids.ts';
import type { ServiceKey } from '../../src/protocol/v2/key-statement.ts';
import { ruleNames } from '../../src/services/license/decide.ts';
import { type CallClient, createCallClient } from '../setup/call-client.ts';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { databaseState, insertBan, sql } from '../setup/stored.ts';
import { useWorld } from '../setup/use-world.ts';
import { createWorld, type SeededApplication, type SeededLicense } from '../setup/world.ts';
import { noLimits } from './support.ts';

// POST /licenses/explain: the verdict that a client would get, and why.

const { server, world } = useWorld({ env: noLimits });

const explanation = z.strictObject({
  success: z.boolean(),
  code: z.string(),
  message: z.string(),
  rules: z.array(
    z.strictObject({
      rule: z.enum(ruleNames),
      outcome: z.enum(['pass', 'fail', 'not_asked', 'not_reached']),
      because: z.string(),
    }),
  ),
  wouldActivate: z.boolean(),
  wouldBind: z.boolean(),
  expiresAt: z.string().nullable(),
  graceEndsAt: z.string().nullable(),
  note: z.string().nullable(),
});

async function explain(question: object, client = world.client) {
  const answer = await client.post('/api/v1/licenses/explain', question);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return explanation.parse(answer.body);
}

async function expectCode(question: object, status: number, code: string) {
  const answer = await world.client.post('/api/v1/licenses/explain', question);
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status, body: { code } });
}

const outcomesOf = ({ rules }: z.infer<typeof explanation>) =>
  Object.fromEntries(rules.map(({ rule, outcome }) => [rule, outcome]));

/** A generated state of a license, and what a client asks about it. */
interface Situation {
  readonly application: number;
  readonly columns: Readonly<Record<string, unknown>>;
  readonly devices: readonly {
    readonly hwid: string;
    readonly idleSeconds: number;
    readonly released: 'no' | 'yes' | 'may return';
  }[];
  readonly hwid: string | undefined;
  readonly isOutdated: boolean;
  readonly isBannedIp: boolean;
}

const hours = (count: number) => new Date(Date.now() + count * 3_600_000);
const rarely = <T>(usual: T, ...others: T[]) => fc.constantFrom(...Array<T>(5).fill(usual), ...others);

const anySituation: fc.Arbitrary<Situation> = fc.record({
  application: rarely(0, 1, 2, 3),
  columns: fc
    .record({
      used: fc.boolean(),
      is_banned: rarely(false, true),
      expires_at: rarely(hours(5), null, hours(-1), hours(-3)),
      grace_seconds: rarely(0, 7200),
      suspended_at: rarely(null, hours(-2)),
      device_limit: fc.constantFrom(1, 2, 3),
      self_service: fc.constantFrom('off', 'key', 'account'),
      release_idle_after_seconds: fc.constantFrom(null, 3600),
    })
    .map(({ used, is_banned, expires_at, ...columns }) => ({
      ...columns,
      status: is_banned ? 'banned' : used ? 'active' : 'unused',
      activated_at: used ? hours(-10) : null,
      expires_at: used ? expires_at : null,
    })),
  devices: fc.uniqueArray(
    fc.record({
      hwid: fc.constantFrom('a', 'b', 'c', 'd'),
      idleSeconds: fc.constantFrom(60, 7200, 9000),
      released: fc.constantFrom('no', 'no', 'yes', 'may return'),
    }),
    { maxLength: 4, selector: ({ hwid }) => hwid },
  ),
  hwid: fc.constantFrom('a', 'b', 'e', 'banned', undefined),
  isOutdated: rarely(false, true),
  isBannedIp: rarely(false, true),
});

const bannedIp = '192.0.2.66';
const goodIp = '192.0.2.77';

/** Puts a fresh license of each application into its situation, in two statements. */
async function prepare(applications: readonly SeededApplication[], situations: readonly Situation[]) {
  const licenses: SeededLicense[] = [];
  for (let left = situations.length; left > 0; left -= 10_000) {
    const owner = applications[0] ?? expect.fail('no application');
    licenses.push(...(await owner.mint({ amount: Math.min(left, 10_000), durationSeconds: 3600 })));
  }
  const states = situations.map(({ application, columns, devices }, index) => {
    const active = devices.filter(({ released }) => released === 'no');
    return {
      ...columns,
      id: licenses[index]?.id,
      application_id: applications[application]?.id,
      hwid: active[0]?.hwid ?? null,
      device_count: active.length,
    };
  });
  const devices = situations.flatMap((situation, index) =>
    situation.devices.map(({ hwid, idleSeconds, released }) => ({
      id: newId(),
      license_id: licenses[index]?.id,
      hwid,
      first_seen_at: hours(-9),
      last_seen_at: new Date(Date.now() - idleSeconds * 1000),
      released_at: released === 'no' ? null : hours(-1),
      released_by: released === 'no' ? null : 'vendor',
      may_return: released === 'may return',
    })),
  );
  await sql(
    server,
    `UPDATE licenses SET application_id = t.application_id, status = t.status, activated_at = t.activated_at,
       expires_at = t.expires_at, grace_seconds = t.grace_seconds, suspended_at = t.suspended_at,
       device_limit = t.device_limit, self_service = t.self_service, hwid = t.hwid, device_count = t.device_count,
       release_idle_after_seconds = t.release_idle_after_seconds
     FROM jsonb_populate_recordset(NULL::licenses, $1) AS t WHERE licenses.id = t.id`,
    [JSON.stringify(states)],
  );
  await sql(server, `INSERT INTO devices SELECT * FROM jsonb_populate_recordset(NULL::devices, $1)`, [
    JSON.stringify(devices),
  ]);
  return licenses;
}

async function createApplications(): Promise<SeededApplication[]> {
  const applications = [];
  for (const settings of [{}, { hwidLockEnabled: false }, { status: 'disabled' }, { protocol: 'v2_only' }]) {
    const application = await world.createApplication();
    if (Object.keys(settings).length > 0) await application.settings(settings);
    await insertBan(server, application.id, 'hwid', 'banned');
    await insertBan(server, application.id, 'ip', bannedIp);
    applications.push(application);
  }
  return applications;
}

/** Asks in situations: first explain, of all of them, then the service itself. */
async function compare(count: number) {
  const applications = await createApplications();
  const situations = fc.sample(anySituation, count);
  const licenses = await prepare(applications, situations);
  const before = await databaseState(server);
  const explanations = [];
  for (const [index, { application, hwid, isOutdated, isBannedIp }] of situations.entries()) {
    explanations.push(
      await explain({
        // A client of the first application shows the key of another one's license.
        applicationId: applications[index % 7 === 0 ? 0 : application]?.id,
        licenseKey: licenses[index]?.licenseKey,
        ...(hwid !== undefined && { hwid }),
        ip: isBannedIp ? bannedIp : goodIp,
        version: isOutdated ? '0.9' : applications[0]?.version,
        protocol: 2,
      }),
    );
  }
  expect(await databaseState(server)).toEqual(before);
  const codes = new Set<string>();
  const clients = new Map<string, { client: CallClient; key: ServiceKey }>();
  const clientFor = async (target: SeededApplication, ip: string) => {
    const name = `${target.id} ${ip}`;
    const known = clients.get(name);
    if (known !== undefined) return known;
    const client = createCallClient(server, target, ip);
    const made = { client, key: await client.key() };
    clients.set(name, made);
    return made;
  };
  for (const [index, { application, hwid, isOutdated, isBannedIp }] of situations.entries()) {
    const target = applications[index % 7 === 0 ? 0 : application] ?? expect.fail('no application');
    const { client, key } = await clientFor(target, isBannedIp ? bannedIp : goodIp);
    const question = client.plaintext('validate', {
      licenseKey: licenses[index]?.licenseKey,
      ...(hwid !== undefined && { hwid }),
      ...(isOutdated && { version: '0.9' }),
    });
    const sent = await client.seal(question, { key });
    const verdict = client.open(sent, await client.post(sent.body));
    const explained = explanations[index] ?? expect.fail('no explanation');
    const what = JSON.stringify({ situation: situations[index], explained });
    expect(explained.code, what).toBe(verdict.code);
    expect(explained.success, what).toBe(verdict.success);
    expect(explained.message, what).toBe(verdict.message);
    codes.add(explained.code);
  }
  await server.deps.services.securityLog.flush();
  const uses = await sql<{ license_id: string; activated: boolean; bound: boolean }>(
    server,
    `SELECT license_id, coalesce((metadata ->> 'activated')::boolean, false) AS activated,
       coalesce((metadata ->> 'bound')::boolean, false) AS bound
     FROM security_log WHERE event = 'license_validated' AND license_id = ANY($1)`,
    [licenses.map(({ id }) => id)],
  );
  const useOf = new Map(uses.map((use) => [use.license_id, use]));
  for (const [index, { wouldActivate, wouldBind }] of explanations.entries()) {
    const { activated = false, bound = false } = useOf.get(licenses[index]?.id ?? '') ?? {};
    expect({ wouldActivate, wouldBind }).toEqual({ wouldActivate: activated, wouldBind: bound });
  }
  return codes;
}

describe('in generated situations', () => {
  const everyCode = [
    'OK',
    'APP_DISABLED',
    'APP_OUTDATED',
    'IP_BANNED',
    'HWID_BANNED',
    'APP_MISMATCH',
    'BANNED',
    'SUSPENDED',
    'EXPIRED',
    'DEVICE_RELEASED',
    'HWID_MISMATCH',
    'DEVICE_LIMIT',
  ];

  test('the code is that of the next verdict, and the database is as before', async () => {
    const codes = await compare(300);
    expect(codes.size).toBeGreaterThan(6);
  }, 120_000);

  test('of which there are ten thousand', { tags: 'slow', timeout: 900_000 }, async () => {
    const codes = await compare(10_000);
    expect([...codes].sort()).toEqual([...everyCode].sort());
  });
});

describe('the rules', () => {
  test('are all there, in order, until one fails', async () => {
    const application = await world.createApplication();
    const { id: licenseId, licenseKey } = await application.mintOne({ durationSeconds: 60 });
    const question = { applicationId: application.id, licenseId };
    const fresh = await explain(question);
    expect(fresh).toMatchObject({ success: true, code: 'OK', wouldActivate: true, wouldBind: false });
    expect(fresh.rules.map(({ rule }) => rule)).toEqual(ruleNames);
    expect(outcomesOf(fresh)).toMatchObject({ application_version: 'not_asked', device_limit: 'not_asked' });
    const withDevice = await explain({ ...question, hwid: 'laptop', version: application.version });
    expect(withDevice).toMatchObject({ code: 'OK', wouldBind: true });

    const session = await openSession(server, application);
    await session.ask(validatePath, { licenseKey, hwid: 'laptop' });
    const other = await explain({ ...question, hwid: 'desktop' });
    expect(other).toMatchObject({ success: false, code: 'HWID_MISMATCH', wouldBind: false, expiresAt: null });
    expect(other.rules.at(-1)).toEqual({
      rule: 'device_limit',
      outcome: 'fail',
      because: '1 of 1 devices are bound, and this one is not among them.',
    });
    await world.client.post(`/api/v1/licenses/${licenseId}/ban`);
    const banned = await explain({ ...question, hwid: 'desktop' });
    expect(outcomesOf(banned)).toMatchObject({ license_ban: 'fail', suspension: 'not_reached' });
  });

  test('of the future show the expiry to come', async () => {
    const application = await world.createApplication();
    const { id: licenseId, licenseKey } = await application.mintOne({ durationSeconds: 3600 });
    await (await openSession(server, application)).ask(validatePath, { licenseKey });
    const question = { applicationId: application.id, licenseId };
    const { expiresAt } = await explain(question);
    const end = Date.parse(expiresAt ?? '');
    const codeAt = async (time: number) =>
      (await explain({ ...question, at: new Date(time).toISOString() })).code;
    expect(await codeAt(end - 1)).toBe('OK');
    expect(await codeAt(end)).toBe('EXPIRED');
    await sql(server, 'UPDATE licenses SET grace_seconds = 60 WHERE id = $1', [licenseId]);
    expect(await explain({ ...question, at: new Date(end).toISOString() })).toMatchObject({
      code: 'OK',
      graceEndsAt: new Date(end + 60_000).toISOString(),
    });
    expect(await codeAt(end + 60_000)).toBe('EXPIRED');
  });
});

describe('a log entry', () => {
  test('says which device, address and version, and that facts are of now', async () => {
    const application = await world.createApplication();
    const { id: licenseId, licenseKey } = await application.mintOne();
    const client = createCallClient(server, application, goodIp);
    expect((await client.ask('validate', { licenseKey, hwid: 'laptop', version: '0.1' })).code).toBe(
      'APP_OUTDATED',
    );
    expect((await client.ask('validate', { licenseKey, hwid: 'laptop' })).code).toBe('OK');
    await server.deps.services.securityLog.flush();
    const entries = await sql<{ id: string; code: string }>(
      server,
      `SELECT id, code FROM security_log WHERE application_id = $1 AND event = 'license_validated'`,
      [application.id],
    );
    const entryOf = (code: string) => entries.find((entry) => entry.code === code)?.id;

    const outdated = await explain({ logEntryId: entryOf('APP_OUTDATED'), licenseKey });
    expect(outdated).toMatchObject({ code: 'APP_OUTDATED', note: expect.stringContaining('of now') });
    expect(outdated.rules[1]?.because).toContain('0.1');
    const accepted = await explain({ logEntryId: entryOf('OK') });
    expect(accepted).toMatchObject({ code: 'OK', wouldBind: false });
    await insertBan(server, application.id, 'ip', goodIp);
    expect(await explain({ logEntryId: entryOf('OK') })).toMatchObject({ code: 'IP_BANNED' });
    expect(await explain({ logEntryId: entryOf('OK'), ip: '192.0.2.1' })).toMatchObject({ code: 'OK' });
    expect(await explain({ logEntryId: entryOf('OK'), ip: '192.0.2.1', licenseId })).toMatchObject({
      code: 'OK',
    });
  });

  test('of what the developer did asks about no address', async () => {
    const application = await world.createApplication();
    const { id, licenseKey } = await application.mintOne();
    const client = createCallClient(server, application, goodIp);
    expect((await client.ask('validate', { licenseKey, hwid: 'laptop' })).code).toBe('OK');
    expect((await world.client.post(`/api/v1/licenses/${id}/suspend`)).status).toBe(200);
    const [entry] = await sql<{ id: string; ip: string }>(
      server,
      `SELECT id, ip FROM security_log WHERE license_id = $1 AND event = 'license_suspended'`,
      [id],
    );
    await insertBan(server, application.id, 'ip', entry?.ip ?? '');
    expect((await world.client.post(`/api/v1/licenses/${id}/reinstate`)).status).toBe(200);
    const answer = await explain({ logEntryId: entry?.id });
    expect(answer).toMatchObject({ code: 'OK' });
    expect(outcomesOf(answer)).toMatchObject({ ip_ban: 'not_asked' });
    expect(await explain({ logEntryId: entry?.id, ip: entry?.ip })).toMatchObject({ code: 'IP_BANNED' });
  });

  test('of another developer does not exist, nor does their license', async () => {
    const application = await world.createApplication();
    const other = await createWorld(server);
    const foreign = await (await other.createApplication()).mintOne();
    const [entry] = await sql<{ id: string }>(
      server,
      'SELECT id FROM security_log WHERE developer_id = $1 LIMIT 1',
      [other.developer.id],
    );
    const question = { applicationId: application.id, licenseId: foreign.id };
    await expectCode({ logEntryId: entry?.id, ...question }, 404, 'LOG_ENTRY_NOT_FOUND');
    await expectCode(question, 404, 'LICENSE_NOT_FOUND');
    // A client that shows the key learns as much.
    expect(await explain({ applicationId: application.id, licenseKey: foreign.licenseKey })).toMatchObject({
      code: 'APP_MISMATCH',
    });
  });
});

test('a question without an application or a license, or with two, is refused and names the member', async () => {
  const { id: applicationId } = await world.createApplication();
  const member = async (question: object) => {
    const answer = await world.client.post('/api/v1/licenses/explain', question);
    return z.object({ issues: z.array(z.object({ path: z.array(z.string()) })) }).parse(answer.body).issues[0]
      ?.path;
  };
  expect(await member({ licenseKey: 'key' })).toEqual(['applicationId']);
  expect(await member({ applicationId })).toEqual(['licenseKey']);
  expect(await member({ applicationId, licenseKey: 'key', licenseId: newId() })).toEqual(['licenseId']);
  expect(await member({ applicationId, licenseKey: 'key', device: 'x' })).toEqual(['device']);
});
