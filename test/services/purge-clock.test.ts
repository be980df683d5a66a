import { Writable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createPurgeClock } from '../../src/services/purge-clock.ts';
import { createTestDatabase, databaseKinds } from '../setup/database.ts';

const hour = 60 * 60 * 1000;
const day = 24 * hour;

/** A database with clocks that a test moves, for successive processes of the service. */
async function open(kind: 'memory' | 'server') {
  const opened = await createTestDatabase(kind);
  onTestFinished(opened.close);
  // The test cannot move the database server's clock: the earlier clock counts.
  const start = Date.now() - 1_000 * day;
  const database: Pick<Database, 'kind' | 'pool'> = opened;
  let [wall, steady] = [start, 0];
  const warnings: string[] = [];
  const log = createLogger(
    'warn',
    new Writable({
      write(line, _encoding, done) {
        warnings.push(String(line));
        done();
      },
    }),
  );
  const begin = () => createPurgeClock({ database, clock: { now: () => wall }, log, steady: () => steady });
  let purgeClock = begin();
  return {
    start,
    warnings,
    database,
    pass: (milliseconds: number) => {
      wall += milliseconds;
      steady += milliseconds;
    },
    set: (milliseconds: number) => {
      wall += milliseconds;
    },
    restart: () => {
      purgeClock = begin();
      steady = 0;
    },
    /** The time by which data is purged, in milliseconds since the start of the test. */
    look: async () => {
      const by = await purgeClock.look();
      return by === null ? null : by.getTime() - start;
    },
  };
}

describe.each(databaseKinds)('the time by which data is purged, on %s,', (kind) => {
  test('is the time that was recorded a day ago', async () => {
    const { look, pass } = await open(kind);
    const looks: (number | null)[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      looks.push(await look());
      pass(6 * hour);
    }
    expect(looks).toEqual([null, null, null, null, 0, 6 * hour, 12 * hour, 18 * hour]);
  });

  test('is known to a service that restarts often or runs rarely', async () => {
    const { look, pass, restart } = await open(kind);
    for (let turn = 0; turn < 48; turn += 1) {
      expect(await look()).toBe(turn < 24 ? null : (turn - 24) * hour);
      pass(hour);
      restart();
    }
    pass(30 * day);
    expect(await look(), 'once a month').toBe(47 * hour);
    pass(day);
    expect(await look()).toBe(48 * hour + 30 * day);
  });

  test.each([
    ['of an hour', hour],
    ['of hours', 23 * hour],
    ['of 120 days', 120 * day],
    ['of a year', 365 * day],
  ])(
    'is never later than the true time after a step ahead %s that is corrected within a day',
    async (_, step) => {
      for (const restarts of [false, true]) {
        const { look, pass, set, restart } = await open(kind);
        await look();
        pass(day);
        expect(await look()).toBe(0);
        set(step);
        for (let turn = 0; turn < 4; turn += 1) {
          if (restarts) restart();
          expect(await look()).toBeLessThanOrEqual(day);
          pass(5.9 * hour);
        }
        set(-step);
        pass(hour);
        expect(await look()).toBeLessThanOrEqual(day + 24.6 * hour);
        pass(day);
        expect(await look(), 'and goes on').toBeGreaterThanOrEqual(day + 24 * hour);
      }
    },
  );

  test('is not advanced by several steps ahead', async () => {
    const { look, pass, set } = await open(kind);
    await look();
    pass(day);
    for (let step = 0; step < 5; step += 1) {
      expect(await look()).toBe(0);
      set(120 * day);
      pass(hour);
    }
  });

  test('counts again from a clock that was set back', async () => {
    const { look, pass, set, warnings } = await open(kind);
    await look();
    pass(2 * day);
    await look();
    set(-3 * day);
    expect(await look()).toBeNull();
    expect(warnings.at(-1)).toMatch(/last maintenance is 3 days in the future: the clock was set back/);
    pass(day);
    expect(await look()).toBe(-day);
  });

  test('is logged with a warning when the clock jumps', async () => {
    const { look, pass, set, warnings } = await open(kind);
    await look();
    pass(day);
    await look();
    const before = warnings.filter((line) => line.includes('According to the clock')).length;
    expect(before).toBe(0);
    set(400 * day);
    await look();
    expect(warnings.at(-1)).toMatch(
      /last maintenance was 400 days ago: the service was off, or the clock was set ahead\. .*correct it now/,
    );
  });

  test.runIf(kind === 'server')('does not follow a clock that is ahead of the database server', async () => {
    const { database, look, pass, set, warnings } = await open(kind);
    set(1_120 * day);
    for (let turn = 0; turn < 3; turn += 1) {
      await look();
      pass(2 * day);
    }
    const { rows } = await database.pool.query(
      'SELECT max(at) < now() + interval \'1 minute\' AS "isNow" FROM clock_notes',
    );
    expect(rows).toEqual([{ isNow: true }]);
    expect(warnings.at(-1)).toMatch(/clock of this machine is \d+ days ahead of the database server's/);
  });
});
