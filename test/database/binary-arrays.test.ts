import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { timestampArray, uuidArray } from '../../src/db/binary-arrays.ts';
import type { Database } from '../../src/db/database.ts';
import { newId } from '../../src/lib/ids.ts';
import { createTestDatabase, databaseKinds } from '../setup/database.ts';

describe.each(databaseKinds)('arrays in binary form on %s', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await createTestDatabase(kind);
  });
  afterAll(() => database.close());
  const read = async (type: string, array: Buffer) => {
    const { rows } = await database.pool.query<{ value: unknown }>(
      `SELECT value FROM unnest($1::${type}[]) WITH ORDINALITY AS t (value, place) ORDER BY place`,
      [array],
    );
    return rows.map(({ value }) => value);
  };

  test.each([
    ['none', []],
    ['one', [newId()]],
    ['several, with NULL', [newId(), null, newId(), null]],
    [
      'the lowest and the highest',
      ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
    ],
  ])('uuids: %s', async (_, ids) => {
    expect(await read('uuid', uuidArray(ids))).toEqual(ids);
  });

  test('times before and after 2000, to the millisecond', async () => {
    const times = [
      '1999-12-31T23:59:59.999Z',
      '2000-01-01T00:00:00.000Z',
      '2026-11-23T16:00:00.123Z',
      '9999-12-31T23:59:59.999Z',
    ];
    expect(await read('timestamptz', timestampArray(times.map((time) => new Date(time))))).toEqual(
      times.map((time) => new Date(time)),
    );
  });
});
