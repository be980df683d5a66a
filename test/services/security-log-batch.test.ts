import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createSigner } from '../../src/crypto/signer.ts';
import type { Database } from '../../src/db/database.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { SecurityLogRow } from '../../src/services/security-log/entry.ts';
import { noUses } from '../../src/services/security-log/uses.ts';
import { writeBatch } from '../../src/services/security-log/write-batch.ts';
import { createSecurityLogWriter } from '../../src/services/security-log/writer.ts';
import { createTestDatabase, databaseKinds, serverUrl } from '../setup/database.ts';

if (serverUrl === null) {
  process.stderr.write('Skipped: parallel log writers, because TEST_DATABASE_URL is not set.\n');
}

/** Writes entries and last addresses, as a batch. */
const write = (
  { pool }: Pick<Database, 'pool'>,
  entries: readonly SecurityLogRow[],
  addresses: ReadonlyMap<string, string> = new Map(),
) => writeBatch(pool, { entries, uses: { ...noUses, addresses } });

interface Seed {
  readonly developerId: string;
  readonly applicationIds: readonly string[];
  /** The licenses of the first application. */
  readonly licenseIds: readonly string[];
}

async function seed(
  { prisma }: Database,
  amounts: { applications: number; licenses: number },
): Promise<Seed> {
  const developerId = newId();
  const email = `${developerId}@example.com`;
  await prisma.developer.create({
    data: { id: developerId, email, emailNormalized: email, name: 'Ada', passwordHash: '$argon2id$none' },
  });
  const applicationIds = Array.from({ length: amounts.applications }, newId);
  await prisma.application.createMany({
    data: applicationIds.map((id) => ({
      id,
      developerId,
      name: 'Photo Lab',
      publicKey: new Uint8Array(createSigner(randomBytes(32)).publicKey),
      privateKeyEncrypted: new Uint8Array(60),
    })),
  });
  const licenseIds = Array.from({ length: amounts.licenses }, newId);
  await prisma.license.createMany({
    data: licenseIds.map((id) => ({
      id,
      applicationId: applicationIds[0] ?? '',
      keyHash: new Uint8Array(randomBytes(32)),
      keyPrefix: 'ABCDE',
    })),
  });
  return { developerId, applicationIds, licenseIds };
}

const entry = (
  { developerId }: Seed,
  applicationId: string,
  more: Partial<SecurityLogRow> = {},
): SecurityLogRow => ({
  id: newId(),
  developerId,
  applicationId,
  event: 'license_validated',
  ip: '192.0.2.7',
  country: null,
  createdAt: new Date('2026-03-01T12:00:00.123Z'),
  ...more,
});

const storedIds = async ({ prisma }: Database, applicationIds: readonly string[]) =>
  (
    await prisma.securityLogEntry.findMany({
      where: { applicationId: { in: [...applicationIds] } },
      select: { id: true },
      orderBy: { id: 'asc' },
    })
  ).map(({ id }) => id);

const countsOf = ({ prisma }: Database, applicationId: string) =>
  prisma.validationCount.findMany({
    where: { applicationId },
    select: { minute: true, code: true, count: true },
  });

const first = <Item>(items: readonly Item[]): Item => items[0] ?? expect.fail('there is none');

describe.each(databaseKinds)('a batch on %s', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await createTestDatabase(kind);
  });
  afterAll(() => database.close());

  test('stores every recorded field, and null for missing ones', async () => {
    const seeded = await seed(database, { applications: 1, licenses: 1 });
    const applicationId = first(seeded.applicationIds);
    const full = entry(seeded, applicationId, {
      code: 'HWID_MISMATCH',
      licenseId: first(seeded.licenseIds),
      userId: newId(),
      ip: '2001:db8::1',
      country: 'SE',
      hwid: `{"quoted"} \\ 'and' é 🗝`,
      metadata: { activated: true, count: 3, scope: null, keys: ['a', 'b'] },
    });
    const bare = entry(seeded, applicationId);
    await write(database, [full, bare]);
    const stored = await database.prisma.securityLogEntry.findMany({
      where: { applicationId },
      orderBy: { id: 'asc' },
    });
    const nothing = { code: null, licenseId: null, userId: null, hwid: null, metadata: {} };
    const actor = { actorKind: 'client', actorId: null, actorName: null };
    expect(stored).toEqual([
      { ...full, ...actor },
      { ...nothing, ...bare, ...actor },
    ]);
  });

  test('omits entries of a deleted application, and stores the others', async () => {
    const seeded = await seed(database, { applications: 2, licenses: 0 });
    const [kept = '', deleted = ''] = seeded.applicationIds;
    const entries = Array.from({ length: 20 }, (_, turn) => entry(seeded, turn % 2 === 0 ? kept : deleted));
    await database.prisma.application.delete({ where: { id: deleted } });
    await write(database, entries);
    const ours = entries.filter(({ applicationId }) => applicationId === kept).map(({ id }) => id);
    expect(await storedIds(database, seeded.applicationIds)).toEqual(ours);
  });

  test('omits entries of a deleted account', async () => {
    const [gone, seeded] = [
      await seed(database, { applications: 1, licenses: 0 }),
      await seed(database, { applications: 1, licenses: 0 }),
    ];
    await database.prisma.developer.delete({ where: { id: gone.developerId } });
    const kept = entry(seeded, first(seeded.applicationIds));
    await write(database, [entry(gone, first(gone.applicationIds)), kept]);
    expect(await storedIds(database, [...gone.applicationIds, ...seeded.applicationIds])).toEqual([kept.id]);
  });

  test('sets the last addresses, and skips deleted licenses', async () => {
    const seeded = await seed(database, { applications: 1, licenses: 3 });
    const [one = '', two = '', three = ''] = seeded.licenseIds;
    await database.prisma.license.delete({ where: { id: three } });
    const seen = [
      [one, '192.0.2.1'],
      [three, '192.0.2.3'],
      [newId(), '192.0.2.4'],
    ] as const;
    await write(database, [], new Map(seen));
    const stored = await database.prisma.license.findMany({
      where: { id: { in: [one, two, three] } },
      select: { id: true, lastIp: true },
      orderBy: { id: 'asc' },
    });
    expect(stored).toEqual([
      { id: one, lastIp: '192.0.2.1' },
      { id: two, lastIp: null },
    ]);
  });

  test('stores an entry once, although an earlier write ended without an answer', async () => {
    const seeded = await seed(database, { applications: 1, licenses: 0 });
    const applicationId = first(seeded.applicationIds);
    const entries = Array.from({ length: 3 }, () => entry(seeded, applicationId));
    await write(database, entries.slice(0, 2));
    await writeBatch(database.pool, { entries, uses: noUses, mayBeStored: true });
    expect(await storedIds(database, [applicationId])).toEqual(entries.map(({ id }) => id));
  });

  test('counts validations once under their id, and adds those of another id', async () => {
    const seeded = await seed(database, { applications: 1, licenses: 0 });
    const applicationId = first(seeded.applicationIds);
    const { developerId } = seeded;
    const counted = (count: number) => ({
      id: newId(),
      mayBeAdded: false,
      counts: [{ developerId, applicationId, minute: 1_000, code: 'OK', count }],
    });
    const tried = counted(3);
    for (const counts of [[tried], [tried], [tried, counted(4)]])
      await writeBatch(database.pool, { entries: [], uses: { ...noUses, counts } });
    expect(await countsOf(database, applicationId)).toEqual([{ minute: 1_000, code: 'OK', count: 7n }]);
  });

  test('counts nothing of a deleted application', async () => {
    const seeded = await seed(database, { applications: 2, licenses: 0 });
    const { developerId } = seeded;
    const [kept = '', deleted = ''] = seeded.applicationIds;
    await database.prisma.application.delete({ where: { id: deleted } });
    const counts = [kept, deleted].map((applicationId) => ({
      ...{ developerId, applicationId, minute: 1_000, code: 'OK', count: 1 },
    }));
    await writeBatch(database.pool, {
      entries: [],
      uses: { ...noUses, counts: [{ id: newId(), counts, mayBeAdded: false }] },
    });
    expect(await countsOf(database, kept)).toHaveLength(1);
    expect(await countsOf(database, deleted)).toEqual([]);
  });

  test('leaves the counting to the writer, and counts the entries of all other writers', async () => {
    const seeded = await seed(database, { applications: 1, licenses: 0 });
    const applicationId = first(seeded.applicationIds);
    const { developerId } = seeded;
    await write(database, [entry(seeded, applicationId, { code: 'OK' })]);
    expect(await countsOf(database, applicationId)).toEqual([]);
    await database.prisma.securityLogEntry.create({
      data: { id: newId(), developerId, applicationId, event: 'license_validated', code: 'EXPIRED' },
    });
    expect(await countsOf(database, applicationId)).toMatchObject([{ code: 'EXPIRED', count: 1n }]);
  });

  test('notes each entry for searches once', async () => {
    const seeded = await seed(database, { applications: 2, licenses: 0 });
    const [one = '', other = ''] = seeded.applicationIds;
    const entries = [one, other, one].map((applicationId) => entry(seeded, applicationId));
    await write(database, entries);
    const { rows } = await database.pool.query(
      `SELECT application_id, from_id, to_id, entries::integer FROM log_search_backlog
       WHERE application_id = ANY($1) ORDER BY entries`,
      [[one, other]],
    );
    const [a, b, c] = entries.map(({ id }) => id);
    expect(rows).toEqual([
      { application_id: other, from_id: b, to_id: b, entries: 1 },
      { application_id: one, from_id: a, to_id: c, entries: 2 },
    ]);
  });

  test('is deleted with its application, and with its account', async () => {
    const seeded = await seed(database, { applications: 2, licenses: 0 });
    const [one = '', other = ''] = seeded.applicationIds;
    const [gone, stays] = [entry(seeded, one), entry(seeded, other)];
    await write(database, [gone, stays]);
    await database.prisma.application.delete({ where: { id: one } });
    expect(await storedIds(database, [one, other])).toEqual([stays.id]);
    await database.prisma.developer.delete({ where: { id: seeded.developerId } });
    expect(await storedIds(database, [one, other])).toEqual([]);
  });

  test('omits what repeats an entry of the same license, device and hour, if it is thinned', async () => {
    const seeded = await seed(database, { applications: 1, licenses: 2 });
    const applicationId = first(seeded.applicationIds);
    const [licenseId = '', otherLicense = ''] = seeded.licenseIds;
    const hour = 3_600_000;
    const at = Date.UTC(2026, 2, 1, 12);
    const use = (milliseconds: number, more: Partial<SecurityLogRow> = {}) =>
      entry(seeded, applicationId, {
        id: v7({ msecs: at + milliseconds }),
        code: 'OK',
        licenseId,
        hwid: 'laptop',
        ...more,
      });
    const stored = [
      use(0),
      use(2, { hwid: 'desktop' }),
      use(3, { hwid: null }),
      use(4, { licenseId: otherLicense }),
      use(5, { code: 'EXPIRED' }),
      use(6, { metadata: { activated: true } }),
      use(hour),
    ];
    await write(database, stored.slice(0, 1));
    const repeats = [use(1), use(hour - 1)];
    await writeBatch(database.pool, {
      entries: [...stored.slice(1), ...repeats],
      uses: noUses,
      thinned: true,
    });
    expect(await storedIds(database, [applicationId])).toEqual(stored.map(({ id }) => id));
  });

  test('looks for repeats in the latest hundred entries of a license', async () => {
    const seeded = await seed(database, { applications: 1, licenses: 1 });
    const applicationId = first(seeded.applicationIds);
    const at = Date.UTC(2026, 2, 1, 12);
    const use = (milliseconds: number, hwid: string) =>
      entry(seeded, applicationId, {
        ...{ id: v7({ msecs: at + milliseconds }), code: 'OK', licenseId: first(seeded.licenseIds), hwid },
      });
    const others = Array.from({ length: 100 }, (_, turn) => use(turn + 1, `device ${turn}`));
    await write(database, [use(0, 'laptop'), ...others]);
    const [again, repeat] = [use(200, 'laptop'), use(201, 'device 99')];
    await writeBatch(database.pool, { entries: [again, repeat], uses: noUses, thinned: true });
    const ids = await storedIds(database, [applicationId]);
    expect(ids).toHaveLength(102);
    expect(ids.at(-1)).toBe(again.id);
  });

  test('is all or nothing', async () => {
    const seeded = await seed(database, { applications: 1, licenses: 1 });
    const applicationId = first(seeded.applicationIds);
    const good = entry(seeded, applicationId);
    const bad = entry(seeded, applicationId, { country: 'no country' });
    const addresses = new Map([[first(seeded.licenseIds), '192.0.2.1']]);
    await expect(write(database, [good, bad], addresses)).rejects.toThrow();
    expect(await storedIds(database, [applicationId])).toEqual([]);
    await write(database, [good], addresses);
    expect(await storedIds(database, [applicationId])).toEqual([good.id]);
  });
});

describe.skipIf(serverUrl === null)('in parallel', () => {
  let database: Database;
  beforeAll(async () => {
    database = await createTestDatabase('server');
  });
  afterAll(() => database.close());

  test('writers of the same applications and licenses in any order do not deadlock', async () => {
    const seeded = await seed(database, { applications: 8, licenses: 5_000 });
    // So many licenses that the database looks each one up separately, in the order of the batch.
    await database.pool.query('ANALYZE licenses');
    const licenseIds = seeded.licenseIds.slice(0, 200);
    const log = createLogger('silent');
    const failed = vi.spyOn(log, 'error');
    const writers = Array.from({ length: 4 }, () => createSecurityLogWriter({ pool: database.pool, log }));
    const rounds = 30;
    for (let round = 0; round < rounds; round++) {
      for (const [index, writer] of writers.entries()) {
        const turned = <Item>(items: readonly Item[]) => (index % 2 === 0 ? items : items.toReversed());
        for (const applicationId of turned(seeded.applicationIds)) {
          writer.add(
            { ip: '192.0.2.7', limitKey: '192.0.2.7', country: null },
            { developerId: seeded.developerId, applicationId, event: 'license_validated' },
          );
        }
        for (const id of turned(licenseIds)) writer.seen(id, `192.0.2.${round}${index}`);
      }
      await Promise.all(writers.map((writer) => writer.flush()));
    }
    // A writer that waits too long for a lock on a busy machine retries.
    await Promise.all(writers.map((writer) => writer.close()));
    expect(failed).not.toHaveBeenCalled();
    expect(await storedIds(database, seeded.applicationIds)).toHaveLength(rounds * 4 * 8);
  }, 120_000);

  /** Runs statements of another session, whose transaction ends with the returned function. */
  async function lockBy(statements: string, id: string): Promise<() => Promise<void>> {
    const holder = await database.pool.connect();
    await holder.query('BEGIN');
    for (const statement of statements.split('; ')) await holder.query(statement, [id]);
    return async () => {
      await holder.query('ROLLBACK');
      holder.release();
    };
  }

  const client = { ip: '192.0.2.7', limitKey: '192.0.2.7', country: null };

  test.each([
    'SELECT FROM applications WHERE id = $1 FOR UPDATE',
    'SELECT FROM developers WHERE id = (SELECT developer_id FROM applications WHERE id = $1) FOR UPDATE',
    // SKIP LOCKED waits for such a row.
    'UPDATE applications SET name = name WHERE id = $1; SELECT FROM applications WHERE id = $1 FOR UPDATE',
  ])('a writer leaves only what concerns a locked application for later: %s', async (statement) => {
    const [one, another] = [
      await seed(database, { applications: 1, licenses: 0 }),
      await seed(database, { applications: 1, licenses: 0 }),
    ];
    const [locked, free] = [first(one.applicationIds), first(another.applicationIds)];
    const log = createLogger('silent');
    const failed = vi.spyOn(log, 'error');
    const writer = createSecurityLogWriter({ pool: database.pool, log });
    const validate = () => {
      for (const [{ developerId }, applicationId] of [
        [one, locked],
        [another, free],
      ] as const)
        writer.add(client, { developerId, applicationId, event: 'license_validated', code: 'OK' });
    };
    const totalOf = async (applicationId: string) =>
      (await countsOf(database, applicationId)).reduce((sum, { count }) => sum + count, 0n);
    const unlock = await lockBy(statement, locked);
    for (let round = 0; round < 2; round += 1) {
      validate();
      await writer.flush();
    }
    expect(await storedIds(database, [free])).toHaveLength(2);
    expect(await totalOf(free)).toBe(2n);
    expect([await storedIds(database, [locked]), await totalOf(locked)]).toEqual([[], 0n]);
    await unlock();
    await writer.close();
    expect(await storedIds(database, [locked])).toHaveLength(2);
    expect([await totalOf(locked), await totalOf(free)]).toEqual([2n, 2n]);
    expect(failed).not.toHaveBeenCalled();
  });

  test('the last uses of a locked license and device are written once they are unlocked', async () => {
    const { licenseIds } = await seed(database, { applications: 1, licenses: 2 });
    const [lockedId = '', freeId = ''] = licenseIds;
    const before = new Date('2026-03-01T12:00:00Z');
    const seen = { firstSeenAt: before, lastSeenAt: before };
    const { id: deviceId } = await database.prisma.device.create({
      data: { id: newId(), licenseId: lockedId, hwid: 'laptop', ...seen },
    });
    const writer = createSecurityLogWriter({ pool: database.pool, log: createLogger('silent') });
    const unlock = await lockBy(
      `SELECT FROM licenses JOIN devices ON license_id = licenses.id WHERE licenses.id = $1 FOR UPDATE`,
      lockedId,
    );
    for (const id of licenseIds) writer.seen(id, '192.0.2.1');
    const at = new Date('2026-03-02T12:00:00Z');
    writer.deviceSeen(deviceId, { licenseId: lockedId, at, ip: '192.0.2.1', country: null });
    await writer.flush();
    const lastIps = async () => {
      const rows = await database.prisma.license.findMany({ where: { id: { in: [...licenseIds] } } });
      return Object.fromEntries(rows.map(({ id, lastIp }) => [id, lastIp]));
    };
    expect(await lastIps()).toEqual({ [lockedId]: null, [freeId]: '192.0.2.1' });
    await unlock();
    await writer.close();
    expect(await lastIps()).toEqual({ [lockedId]: '192.0.2.1', [freeId]: '192.0.2.1' });
    expect(await database.prisma.device.findUniqueOrThrow({ where: { id: deviceId } })).toMatchObject({
      lastSeenAt: at,
      lastIp: '192.0.2.1',
    });
  });

  test('a batch and the deletion of its account do not deadlock', async () => {
    const seeded = await seed(database, { applications: 1, licenses: 1 });
    const applicationId = first(seeded.applicationIds);
    const { pool } = database;

    /** Waits until this many sessions of this database wait for a lock. */
    const waiting = async (amount: number) => {
      for (let asked = 0; asked < 1_000; asked++) {
        const { rows } = await pool.query<{ count: string }>(
          `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        if (Number(rows[0]?.count) >= amount) return;
        await sleep(10);
      }
      throw new Error(`${amount} sessions never waited`);
    };

    // Another session locks the application, so that both others are running when it is unlocked.
    const holder = await pool.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM applications WHERE id = $1 FOR UPDATE', [applicationId]);
    const batch = write(
      database,
      [entry(seeded, applicationId)],
      new Map([[first(seeded.licenseIds), '192.0.2.1']]),
    );
    await waiting(1);
    const deletion = pool.query('DELETE FROM developers WHERE id = $1', [seeded.developerId]);
    await waiting(2);
    await holder.query('COMMIT');
    holder.release();
    const outcomes = await Promise.allSettled([batch, deletion]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(await storedIds(database, [applicationId])).toEqual([]);
  });
});
