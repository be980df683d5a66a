import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ageValidationCounts } from '../../src/db/age-validation-counts.ts';
import { createTestDatabase, databaseKinds } from '../setup/database.ts';

const minutesOf = (hours: number) => hours * 60;
/** A whole hour, in minutes since the epoch. */
const anHour = minutesOf(490_000);

describe.each(databaseKinds)('the counts of validations on %s', (kind) => {
  async function createCounts() {
    const { pool, close } = await createTestDatabase(kind);
    onTestFinished(close);
    const [developerId, applicationId] = [randomUUID(), randomUUID()];
    return {
      pool,
      add: (minutes: readonly number[], code = 'OK', of = applicationId) =>
        pool.query(
          `INSERT INTO validation_counts (developer_id, application_id, minute, code, count)
           SELECT $1, $2, minute + $5, $3, 1 FROM unnest($4::int[]) AS minute`,
          [developerId, of, code, minutes, anHour],
        ),
      /** Minutes are relative to the hour here. */
      read: async (of = applicationId) => {
        const { rows } = await pool.query<{ minute: number; code: string; count: number }>(
          'SELECT minute, code, count::int FROM validation_counts WHERE application_id = $1 ORDER BY 1, 2',
          [of],
        );
        return rows.map(({ minute, code, count }) => [minute - anHour, code, count]);
      },
    };
  }
  const by = new Date((anHour + 10) * 60_000);

  test('are added up per hour, except for what may be of the last 24 hours, and kept for 31 days', async () => {
    const { pool, add, read } = await createCounts();
    const other = randomUUID();
    await add([-121, -120, -62, -61, -60, -59, 5, 100]);
    await add([-62], 'BANNED');
    await add([-62], 'OK', other);
    await add([10 - minutesOf(31 * 24), 9 - minutesOf(31 * 24)], 'OLD');
    const expected = [
      // The first 50 minutes of it are older.
      [-minutesOf(31 * 24), 'OLD', 1],
      [-180, 'OK', 1],
      [-120, 'BANNED', 1],
      [-120, 'OK', 3],
      [-60, 'OK', 1],
      [-59, 'OK', 1],
      [5, 'OK', 1],
      [100, 'OK', 1],
    ];
    await ageValidationCounts(pool, by);
    expect(await read()).toEqual(expected);
    expect(await read(other)).toEqual([[-120, 'OK', 1]]);
    await add([-100]);
    await Promise.all([ageValidationCounts(pool, by), ageValidationCounts(pool, by)]);
    // The hour of which a part has become too old is deleted as a whole.
    expect(await read()).toEqual(
      expected.slice(1).map((row) => (row[0] === -120 && row[1] === 'OK' ? [-120, 'OK', 4] : row)),
    );
  });

  test('are the same in sum when there are more than one statement adds up', async () => {
    const { pool, add, read } = await createCounts();
    const many = 12_000;
    await add(Array.from({ length: many }, (_, index) => -61 - index));
    await ageValidationCounts(pool, by);
    const rows = await read();
    expect(rows).toHaveLength(many / 60);
    expect(new Set(rows.map(([, , count]) => count))).toEqual(new Set([60]));
  });
});
