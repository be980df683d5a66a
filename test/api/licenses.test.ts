import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSession, validatePath } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld, type SeededApplication, type World } from '../setup/world.ts';
import {
  expectFailure,
  expectIssue,
  expectSuccess,
  licensesAnswer,
  mintedAnswer,
  noLimits,
} from './support.ts';

let server: TestServer;
let world: World;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  world = await createWorld(server);
});
afterAll(() => server.close());

const prisma = () => server.deps.services.database.prisma;
const mintPath = '/api/v1/licenses/create';
const sha256 = (text: string) => createHash('sha256').update(text).digest();

async function mint(applicationId: string, fields: Record<string, unknown> = {}, owner = world) {
  const body = { applicationId, amount: 1, durationSeconds: 3600, ...fields };
  return expectSuccess(await owner.client.post(mintPath, body), 201, mintedAnswer);
}

async function list(applicationId: string, query: Record<string, string> = {}) {
  const search = new URLSearchParams(query).toString();
  const answer = await world.client.get(`/api/v1/apps/${applicationId}/licenses?${search}`);
  return expectSuccess(answer, 200, licensesAnswer);
}

/** All pages, newest first. */
async function walk(applicationId: string, query: Record<string, string> = {}) {
  const pages: Awaited<ReturnType<typeof list>>[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await list(applicationId, { ...query, ...(cursor !== undefined && { cursor }) });
    pages.push(page);
    cursor = page.nextCursor;
  }
  return pages;
}

describe('minting', () => {
  test('returns each key with its tier and duration, and a warning that it is shown only once', async () => {
    const { id } = await world.createApplication();
    const { keys, warning } = await mint(id, { amount: 3, durationSeconds: 86_400, subscriptionTier: 7 });
    expect(keys).toHaveLength(3);
    for (const key of keys) {
      expect(key).toMatchObject({ durationSeconds: 86_400, subscriptionTier: 7 });
      expect(key.licenseKey.startsWith(key.keyPrefix)).toBe(true);
    }
    expect(warning).toMatch(/only now/);
  });

  test('the license is unused, of tier 0, unbound and without an expiry', async () => {
    const { id } = await world.createApplication();
    const {
      keys: [key],
    } = await mint(id, { durationSeconds: 0 });
    const { licenses } = await list(id);
    expect(licenses).toEqual([
      {
        id: key?.id,
        applicationId: id,
        keyPrefix: key?.keyPrefix,
        status: 'unused',
        subscriptionTier: 0,
        durationSeconds: 0,
        activatedAt: null,
        expiresAt: null,
        graceSeconds: 0,
        graceEndsAt: null,
        suspendedAt: null,
        suspensionReason: null,
        clockStopped: false,
        hwid: null,
        deviceLimit: 1,
        deviceCount: 0,
        overLimit: false,
        selfService: 'off',
        moves: null,
        cooldownSeconds: 0,
        releaseIdleAfterSeconds: null,
        leaseSeconds: null,
        policyId: null,
        entitlements: {},
        metadata: { client: {}, private: {} },
        tags: [],
        lastSeenAt: null,
        lastIp: null,
        note: null,
        noteCiphertextB64: null,
        createdAt: licenses[0]?.createdAt,
        updatedAt: licenses[0]?.createdAt,
      },
    ]);
  });

  test('the database contains the hash and a prefix, but not the key', async () => {
    const { id } = await world.createApplication();
    const { keys } = await mint(id, { amount: 5, note: 'five' });
    for (const key of keys) {
      const row = await prisma().license.findUniqueOrThrow({ where: { id: key.id } });
      expect(Buffer.from(row.keyHash)).toEqual(sha256(key.licenseKey));
      expect(row.keyPrefix).toBe(key.licenseKey.slice(0, row.keyPrefix.length));
      expect(row.keyPrefix.length).toBeLessThan(key.licenseKey.length / 2);
    }
    const tables = await prisma().$queryRaw<{ row: string }[]>`
      SELECT licenses::text AS row FROM licenses UNION ALL SELECT security_log::text FROM security_log
      UNION ALL SELECT applications::text FROM applications UNION ALL SELECT developers::text FROM developers`;
    const dump = tables.map(({ row }) => row).join('\n');
    for (const key of keys) expect(dump).not.toContain(key.licenseKey);
    expect(dump).toContain(sha256(keys[0]?.licenseKey ?? '').toString('hex'));
  });

  test('is logged by count, without a key', async () => {
    const { id } = await world.createApplication();
    const { keys } = await mint(id, { amount: 2, subscriptionTier: 1, durationSeconds: 60 });
    const entry = await prisma().securityLogEntry.findFirstOrThrow({
      where: { applicationId: id, event: 'licenses_created' },
    });
    expect(entry).toMatchObject({
      developerId: world.developer.id,
      ip: world.client.ip,
      metadata: { amount: 2, subscriptionTier: 1, durationSeconds: 60 },
    });
    for (const key of keys) expect(JSON.stringify(entry)).not.toContain(key.licenseKey);
  });

  test('ten thousand in one request are all different, all stored, and all found', async () => {
    const application = await world.createApplication();
    const { keys } = await mint(application.id, { amount: 10_000 });
    expect(new Set(keys.map((key) => key.licenseKey)).size).toBe(10_000);
    expect(new Set(keys.map((key) => key.id)).size).toBe(10_000);
    const rows = await prisma().license.findMany({
      where: { applicationId: application.id },
      select: { id: true, keyHash: true },
    });
    const stored = new Map(rows.map((row) => [row.id, Buffer.from(row.keyHash).toString('hex')]));
    expect(stored.size).toBe(10_000);
    expect(keys.filter((key) => stored.get(key.id) !== sha256(key.licenseKey).toString('hex'))).toEqual([]);
    for (const key of [keys[0], keys[4_999], keys[9_999]]) {
      const { licenses } = await list(application.id, { q: key?.licenseKey ?? '' });
      expect(licenses.map((license) => license.id)).toEqual([key?.id]);
    }
    const session = await openSession(server, application);
    const licenseKey = keys[9_999]?.licenseKey;
    expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });
  });

  test.each([0, -1, 10_001, 1.5, 1e300])('an amount of %d is refused', async (amount) => {
    const { id } = await world.createApplication();
    const answer = await world.client.post(mintPath, { applicationId: id, amount, durationSeconds: 0 });
    expectIssue(answer, 'amount');
    expect(await prisma().license.count({ where: { applicationId: id } })).toBe(0);
  });

  test('the largest duration and tier are stored exactly', async () => {
    const { id } = await world.createApplication();
    const largest = 2_147_483_647;
    await mint(id, { durationSeconds: largest, subscriptionTier: largest });
    expect((await list(id)).licenses[0]).toMatchObject({
      durationSeconds: largest,
      subscriptionTier: largest,
    });
    for (const field of ['durationSeconds', 'subscriptionTier']) {
      const body = { applicationId: id, amount: 1, durationSeconds: 0, [field]: largest + 1 };
      expectIssue(await world.client.post(mintPath, body), field);
    }
  });

  test('in private mode the server mints no keys', async () => {
    const secretive = await createWorld(server);
    const { id } = await secretive.createApplication();
    const where = { id: secretive.developer.id };
    await prisma().developer.update({ where, data: { keyCreationMode: 'private' } });
    const body = { applicationId: id, amount: 1, durationSeconds: 0 };
    expectFailure(await secretive.client.post(mintPath, body), 409, 'PRIVATE_MODE');
    expect(await prisma().license.count({ where: { applicationId: id } })).toBe(0);
    await prisma().developer.update({ where, data: { keyCreationMode: 'default' } });
    expect((await secretive.client.post(mintPath, body)).status).toBe(201);
  });
});

describe('a mask', () => {
  const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
  const letter = `[${alphabet}]`;

  test('is five groups of five by default', async () => {
    const { id } = await world.createApplication();
    const { keys, warning } = await mint(id, { amount: 200 });
    const pattern = new RegExp(`^${letter}{5}(?:-${letter}{5}){4}$`);
    for (const key of keys) expect(key.licenseKey).toMatch(pattern);
    expect(warning).not.toMatch(/bits/);
    const seen = new Set(keys.flatMap((key) => [...key.licenseKey.replaceAll('-', '')]));
    expect([...seen].sort().join(''), 'every letter of the alphabet turns up in 5,000').toBe(alphabet);
  });

  test('replaces each X with a random character and keeps the rest', async () => {
    const { id } = await world.createApplication();
    const mask = '$&-x.XXXX_XXXX|%XXXX\\XXXX$1';
    const { keys } = await mint(id, { amount: 20, mask });
    const pattern = mask
      .split('X')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'))
      .join(letter);
    for (const key of keys) expect(key.licenseKey).toMatch(new RegExp(`^${pattern}$`));
    expect(new Set(keys.map((key) => key.licenseKey)).size).toBe(20);
  });

  test.each([
    [7, 'refused'],
    [8, 'warned about'],
    [12, 'warned about'],
    [13, 'fine'],
    [128, 'fine'],
    [129, 'refused'],
  ])('of %d X is %s', async (letters, verdict) => {
    const { id } = await world.createApplication();
    const body = { applicationId: id, amount: 1, durationSeconds: 0, mask: 'X'.repeat(letters) };
    const answer = await world.client.post(mintPath, body);
    if (verdict === 'refused') return expectIssue(answer, 'mask');
    const { warning } = expectSuccess(answer, 201, mintedAnswer);
    expect(/\bbits\b/.test(warning)).toBe(verdict === 'warned about');
    if (verdict === 'warned about') expect(warning).toContain(String(letters * 5));
  });

  test.each([
    ['without an X', 'PHOTO-LAB'],
    ['with lower-case x alone', 'xxxxx-xxxxx-xxxxx-xxxxx'],
    ['with a space', 'XXXXX XXXXX XXXXX'],
    ['with a line break', 'XXXXX-XXXXX-XXXXX\n'],
    ['with a letter beyond ASCII', 'ÄXXXXX-XXXXX-XXXXX'],
    ['that is empty', ''],
  ])('%s is refused', async (_what, mask) => {
    const { id } = await world.createApplication();
    const body = { applicationId: id, amount: 1, durationSeconds: 0, mask };
    expectIssue(await world.client.post(mintPath, body), 'mask');
  });

  test('reveals at most a quarter of its random letters in the prefix', async () => {
    const { id } = await world.createApplication();
    const cases: [mask: string, shown: RegExp][] = [
      ['XXXXX-XXXXX-XXXXX-XXXXX-XXXXX', new RegExp(`^${letter}{5}-?$`)],
      ['PHOTO-LAB-XXXXXXXX', new RegExp(`^PHOTO-LAB-${letter}{2}$`)],
      ['XXXXXXXX-PHOTO', new RegExp(`^${letter}{2}$`)],
    ];
    for (const [mask, shown] of cases) {
      const { keys } = await mint(id, { mask });
      expect(keys[0]?.keyPrefix).toMatch(shown);
    }
  });

  test('of the account is used if the request has none', async () => {
    const owner = await createWorld(server);
    const { id } = await owner.createApplication();
    await prisma().developer.update({
      where: { id: owner.developer.id },
      data: { licenseMask: 'ACCT-XXXXXXXXXXXXX' },
    });
    const fromAccount = await mint(id, {}, owner);
    expect(fromAccount.keys[0]?.licenseKey).toMatch(/^ACCT-[2-9A-Z]{13}$/);
    const fromRequest = await mint(id, { mask: 'MINE-XXXXXXXXXXXXX' }, owner);
    expect(fromRequest.keys[0]?.licenseKey).toMatch(/^MINE-/);
  });
});

describe('the list', () => {
  let application: SeededApplication;
  let newestFirst: string[];
  beforeAll(async () => {
    application = await world.createApplication();
    const { keys } = await mint(application.id, { amount: 205 });
    newestFirst = keys.map((key) => key.id).reverse();
  });
  const idsOf = (page: { licenses: { id: string }[] }) => page.licenses.map((license) => license.id);

  test('has 50 per page by default, newest first', async () => {
    const page = await list(application.id);
    expect(idsOf(page)).toEqual(newestFirst.slice(0, 50));
    expect(page.nextCursor).not.toBeNull();
  });

  test.each(['1', '200'])('has %s per page if requested', async (limit) => {
    expect(idsOf(await list(application.id, { limit }))).toEqual(newestFirst.slice(0, Number(limit)));
  });

  test.each(['0', '201', '-1', '1.5', '1e1', ' 5', '0x10', '', 'ten', '99999999999999999999', '١'])(
    'refuses %j as a limit',
    async (limit) => {
      const query = new URLSearchParams({ limit }).toString();
      const answer = await world.client.get(`/api/v1/apps/${application.id}/licenses?${query}`);
      expectIssue(answer, 'limit');
    },
  );

  test('refuses a repeated limit', async () => {
    const answer = await world.client.get(`/api/v1/apps/${application.id}/licenses?limit=1&limit=2`);
    expectIssue(answer, 'limit');
  });

  test.each(['1', '41', '50', '200'])('in pages of %s has each license once, in order', async (limit) => {
    if (limit === '1') {
      const few = await world.createApplication();
      const { keys } = await mint(few.id, { amount: 4 });
      const pages = await walk(few.id, { limit });
      expect(pages.flatMap(idsOf)).toEqual(keys.map((key) => key.id).reverse());
      expect(pages).toHaveLength(4);
      return;
    }
    const pages = await walk(application.id, { limit });
    expect(pages.flatMap(idsOf)).toEqual(newestFirst);
    expect(pages).toHaveLength(Math.ceil(newestFirst.length / Number(limit)));
  });

  test('ends with a null cursor, even if it is empty or its last page is full', async () => {
    const empty = await world.createApplication();
    expect(await list(empty.id)).toEqual({ success: true, licenses: [], nextCursor: null });
    await mint(empty.id, { amount: 2 });
    expect((await list(empty.id, { limit: '2' })).nextCursor).toBeNull();
    expect((await list(empty.id, { limit: '1' })).nextCursor).not.toBeNull();
  });

  test('is stable while licenses are added and the cursor’s own is deleted', async () => {
    const moving = await world.createApplication();
    const { keys } = await mint(moving.id, { amount: 6 });
    const ids = keys.map((key) => key.id).reverse();
    const first = await list(moving.id, { limit: '2' });
    await mint(moving.id, { amount: 3 });
    await prisma().license.delete({ where: { id: ids[1] ?? '' } });
    const second = await list(moving.id, { limit: '2', cursor: first.nextCursor ?? '' });
    const third = await list(moving.id, { limit: '2', cursor: second.nextCursor ?? '' });
    expect([first, second, third].flatMap(idsOf)).toEqual(ids);
    expect(third.nextCursor).toBeNull();
  });

  test('an invalid cursor is refused', async () => {
    const { nextCursor } = await list(application.id, { limit: '1' });
    const good = nextCursor ?? '';
    const encode = (text: string) => Buffer.from(text).toString('base64url');
    const bad = [
      '',
      'rubbish',
      `${good}A`,
      `${good}=`,
      good.slice(0, -1),
      good.toUpperCase(),
      newestFirst[0] ?? '',
      encode(newestFirst[0] ?? ''),
      encode('after:'),
      encode("after:' OR 1=1 --"),
      encode('after:00000000-0000-0000-0000-00000000000'),
      encode('AFTER:00000000-0000-0000-0000-000000000000'),
      'a'.repeat(5_000),
      '\0',
      '💥',
    ];
    for (const cursor of bad) {
      const query = new URLSearchParams({ cursor }).toString();
      expectIssue(await world.client.get(`/api/v1/apps/${application.id}/licenses?${query}`), 'cursor');
    }
  });

  test('shows an active license as expired from its expiry on, without storing that', async () => {
    const aging = await startTestServer();
    try {
      const owner = await createWorld(aging);
      const app = await owner.createApplication();
      const timed = await app.mintOne({ durationSeconds: 60 });
      const untimed = await app.mintOne({ durationSeconds: 0 });
      const session = await openSession(aging, app);
      for (const { licenseKey } of [timed, untimed]) {
        expect(await session.ask(validatePath, { licenseKey })).toMatchObject({ code: 'OK' });
      }
      const statusOf = async (id: string) => {
        const answer = await owner.client.get(`/api/v1/apps/${app.id}/licenses`);
        const { licenses } = expectSuccess(answer, 200, licensesAnswer);
        return licenses.find((license) => license.id === id)?.status;
      };
      expect(await statusOf(timed.id)).toBe('active');
      aging.clock.step(61);
      expect(await statusOf(timed.id)).toBe('expired');
      expect(await statusOf(untimed.id)).toBe('active');
      const row = await aging.deps.services.database.prisma.license.findUniqueOrThrow({
        where: { id: timed.id },
      });
      expect(row.status).toBe('active');
      expect(row.expiresAt?.getTime()).toBe((row.activatedAt?.getTime() ?? 0) + 60_000);
    } finally {
      await aging.close();
    }
  });
});

describe('searching', () => {
  const notes = [
    '100% off',
    '100 off',
    'a_b',
    'aXb',
    'back\\slash',
    'backslash',
    'Élan VITAL',
    "O'Hara",
    '%',
    '_',
  ];
  let application: SeededApplication;
  let withDevice: string;
  const keys = new Map<string, string>();
  beforeAll(async () => {
    application = await world.createApplication();
    for (const note of notes) {
      const minted = await mint(application.id, { note, mask: 'ABC-XXXXXXXXXXXXX' });
      keys.set(note, minted.keys[0]?.licenseKey ?? '');
    }
    const { keys: minted } = await mint(application.id);
    withDevice = minted[0]?.id ?? '';
    await prisma().license.update({
      where: { id: withDevice },
      data: { hwid: 'DISK-77:a_c', lastIp: '2001:db8::77' },
    });
  });
  const find = async (q: string, id = application.id) => {
    const pages = await walk(id, { q, limit: '3' });
    return pages.flatMap((page) => page.licenses);
  };
  const notesOf = async (q: string) => (await find(q)).map((license) => license.note).sort();

  test.each<[q: string, found: (string | null)[]]>([
    ['%', ['%', '100% off']],
    ['_', ['_', 'a_b', null]],
    ['\\', ['back\\slash']],
    ['100%', ['100% off']],
    ['a_b', ['a_b']],
    ['A_B', ['a_b']],
    ['k\\s', ['back\\slash']],
    ['%%', []],
    ['vital', ['Élan VITAL']],
    ['É', ['Élan VITAL']],
    ['é', ['Élan VITAL']],
    ["o'h", ["O'Hara"]],
    ["' OR '1'='1", []],
  ])('%j finds the notes that contain it, in any letter case', async (q, found) => {
    expect(await notesOf(q)).toEqual([...found].sort());
  });

  test('finds devices, addresses and prefixes, and everything for an empty text', async () => {
    for (const q of ['disk-77', '2001:db8::77', '2001:DB8::77']) {
      expect((await find(q)).map((license) => license.id)).toEqual([withDevice]);
    }
    expect(await find('abc-')).toHaveLength(notes.length);
    expect(await find('')).toHaveLength(notes.length + 1);
  });

  test('finds a complete key by its hash, but no secret part of it', async () => {
    for (const [note, key] of keys) {
      expect((await find(key)).map((license) => license.note)).toEqual([note]);
      expect(await find(key.slice(10))).toEqual([]);
    }
    expect(await find((keys.get('%') ?? '').toLowerCase())).toEqual([]);
  });

  test('stays within the application', async () => {
    const other = await world.createApplication();
    expect(await find('off', other.id)).toEqual([]);
    expect(await find(keys.get('%') ?? '', other.id)).toEqual([]);
  });

  test('of more than 200 characters is refused', async () => {
    const path = `/api/v1/apps/${application.id}/licenses?q=`;
    expectIssue(await world.client.get(path + 'q'.repeat(201)), 'q');
    expect((await world.client.get(path + 'q'.repeat(200))).status).toBe(200);
    expectIssue(await world.client.get(`${path}%00`), 'q');
  });
});
