import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { isDatabaseUnavailable, isTransactionVictim } from '../../src/db/errors.ts';
import { createTestDatabase, databaseKinds } from '../setup/database.ts';

describe.each(databaseKinds)('on the %s database', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await createTestDatabase(kind);
  });
  afterAll(() => database.close());

  const raise = (code: string, message = 'made by a test') =>
    `DO $$ BEGIN RAISE EXCEPTION '${message}' USING ERRCODE = '${code}'; END $$`;
  /** Fails with this code in the COMMIT of a transaction, which Prisma sends. */
  const failCommit = (code: string) =>
    database.prisma.$transaction(async (transaction) => {
      for (const statement of [
        'CREATE TABLE made_by_a_test (id int)',
        `CREATE FUNCTION refuse_by_a_test() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION 'made by a test' USING ERRCODE = '${code}'; END $$`,
        `CREATE CONSTRAINT TRIGGER late AFTER INSERT ON made_by_a_test DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION refuse_by_a_test()`,
        'INSERT INTO made_by_a_test VALUES (1)',
      ])
        await transaction.$executeRawUnsafe(statement);
    });
  const errorOf = (work: Promise<unknown>) =>
    work.then(
      () => null,
      (error: unknown) => error,
    );

  // 53100 is a full disk, 58030 a disk error, 58P02 a file that already exists, 25006 a read-only server, 57014 a
  // cancelled statement.
  test.each(['40P01', '40001', '57P01', '53000', '53100', '58030', '58P02', '25006', '57014'])(
    '%s means unavailable, also inside Prisma',
    async (code) => {
      expect(isDatabaseUnavailable(await errorOf(database.pool.query(raise(code))))).toBe(true);
      expect(isDatabaseUnavailable(await errorOf(database.prisma.$executeRawUnsafe(raise(code))))).toBe(true);
      expect(isDatabaseUnavailable(await errorOf(failCommit(code)))).toBe(true);
    },
  );

  test.each([
    ['could not create file "base/5/16384": Read-only file system', true],
    ['could not open file "base/5/16384": Permission denied', true],
    ['permission denied for table licenses', false],
  ])('42501 means unavailable only if it is about a file: %s', async (message, expected) => {
    const failures = [
      database.pool.query(raise('42501', message)),
      database.prisma.$executeRawUnsafe(raise('42501', message)),
    ];
    for (const failure of failures) expect(isDatabaseUnavailable(await errorOf(failure))).toBe(expected);
  });

  test.each([
    ['40P01', true],
    ['40001', true],
    ['57P01', false],
    ['23505', false],
  ])('%s ends a transaction that can be retried: %s', async (code, expected) => {
    expect(isTransactionVictim(await errorOf(database.prisma.$executeRawUnsafe(raise(code))))).toBe(expected);
    expect(isTransactionVictim(await errorOf(failCommit(code)))).toBe(expected);
  });

  test.each(['22012', '42601', '23505'])('%s is a bug', async (code) => {
    expect(isDatabaseUnavailable(await errorOf(database.pool.query(raise(code))))).toBe(false);
    expect(isDatabaseUnavailable(await errorOf(database.prisma.$executeRawUnsafe(raise(code))))).toBe(false);
    const ofCommit = await errorOf(failCommit(code));
    expect(ofCommit).toBeInstanceOf(Error);
    expect(isDatabaseUnavailable(ofCommit)).toBe(false);
  });
});
