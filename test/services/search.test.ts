import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Prisma } from '../../src/db/client.ts';
import { containsTextByIndex } from '../../src/services/search.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';

describe('a search uses the trigram index', () => {
  test.each(['abc', 'ÄÖÜ', '203.0.113.7', '.7', '10.', 'order 17', '  x', '%ab_', '日本語', "o'n"])(
    'for %j',
    (q) => {
      expect(containsTextByIndex('text', q)).not.toBeNull();
    },
  );

  test.each(['', 'a', 'ab', '日本', '%', '___', '\\', '--', '...', '💥💥💥', undefined])(
    'not for %j',
    (q) => {
      expect(containsTextByIndex('text', q)).toBeNull();
    },
  );
});

describe('of a long text the index is searched for the most selective part', () => {
  test.each([
    ['device-000000500', '00000500'],
    ['user-000000500@example.com', '00000500'],
    ['01a1f9ca-93fa-7499-96a1-742319220050', '19220050'],
    ['F00DFACE12', '0DFACE12'],
    ['DESKTOP-7Q2M4X', '7Q2M4X'],
  ])('%s', (q, part) => {
    expect(containsTextByIndex('text', q)?.values).toEqual([`%${part}%`, `%${q}%`]);
  });

  test.each(['device-100000000', 'somebody@example.com', '203.0.113.7', 'order 17', 'AAAA-BBBB-1234'])(
    'of %s it is searched for the whole text',
    (q) => {
      expect(containsTextByIndex('text', q)?.values).toEqual([`%${q}%`]);
    },
  );
});

describe('the text for the index', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  test('matches every row that the whole text matches', { timeout: 60_000 }, async () => {
    const { pool } = server.deps.services.database;
    const piece = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'0015aAfF-_% ß'), maxLength: 12 }),
      fc.constantFrom('device-00000500', 'DEVICE-00000500', '0DFACE12', '@example.com'),
    );
    const around = fc.array(piece, { maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(around, piece, piece, fc.boolean(), around, async (before, q, other, isIn, after) => {
        const found = containsTextByIndex('given.text', q);
        if (found === null) return;
        const text = [...before, isIn ? q : other, ...after].join('');
        const whole = `%${q.replace(/[\\%_]/g, '\\$&')}%`;
        const question = Prisma.sql`
          SELECT ${found} AS "isFound", given.text ILIKE ${whole} AS "isHeld"
          FROM (SELECT ${text}::text AS text) AS given`;
        const { rows } = await pool.query<Record<'isFound' | 'isHeld', boolean>>(
          question.text,
          question.values,
        );
        expect(rows[0]?.isFound).toBe(rows[0]?.isHeld);
      }),
      { numRuns: 300 },
    );
  });
});
