import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { nearRows } from '../../src/services/list-search.ts';
import { insertLicenses, insertUsers } from '../graphql/rows.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { sql } from '../setup/stored.ts';
import { createWorld, type World } from '../setup/world.ts';
import { noLimits } from './support.ts';

/** Texts that a search could misinterpret. */
const odd = [
  'Straße 5',
  'ÄÖÜ äöü',
  'ΟΔΥΣΣΕΥΣ οδυσσευς',
  'İstanbul ısparta',
  'Ångström',
  'ΣΊΣΥΦΟΣ',
  '100%_sure',
  'a\\b\\\\c',
  'under_score__x',
  'it\'s “quoted” "twice"',
  'tab\tand\nline',
  '日本語のキー',
  '💥 boom 👩‍👩‍👧',
  'e\u0301clair éclair',
  '203.0.113.77',
  '2001:db8::7',
  'ab',
  'x',
  '--==--',
  '   spaces   ',
  '$1 $2 {3}',
  'АБВГД абвгд',
  'ﬁne ﬂow',
  'ǅungla',
];

let server: TestServer;
let world: World;
let applicationId: string;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  world = await createWorld(server);
  applicationId = (await world.createApplication()).id;
  const both = odd.map((note, index) => ({ note, hwid: odd[(index * 7 + 3) % odd.length] ?? null }));
  await insertLicenses(server, applicationId, both);
  await insertUsers(
    server,
    applicationId,
    odd.map((last_hwid) => ({ last_hwid })),
  );
  // More than are scanned one by one, so that searches for the texts above use the indexes.
  await insertLicenses(server, applicationId, Array(nearRows + 1).fill({}));
  await insertUsers(server, applicationId, Array(nearRows + 1).fill({}));
  await insertLicenses(server, applicationId, both);
}, 120_000);
afterAll(() => server.close());

/** The result of scanning every row. */
const plainly = async (table: 'licenses' | 'end_users', columns: readonly string[], q: string) => {
  const rows = await sql(
    server,
    `SELECT id FROM ${table} WHERE application_id = $1
     AND (${columns.map((column) => `strpos(lower(${column}), lower($2)) > 0`).join(' OR ')})
     ORDER BY id DESC LIMIT 200`,
    [applicationId, q],
  );
  return z
    .array(z.object({ id: z.string() }))
    .parse(rows)
    .map(({ id }) => id);
};

const searched = async (list: 'licenses' | 'users', q: string) => {
  const query = new URLSearchParams({ q, limit: '200' }).toString();
  const { status, body } = await world.client.get(`/api/v1/apps/${applicationId}/${list}?${query}`);
  expect(status).toBe(200);
  const items = z.looseObject({ [list]: z.array(z.looseObject({ id: z.string() })) }).parse(body)[list];
  return z
    .array(z.looseObject({ id: z.string() }))
    .parse(items)
    .map(({ id }) => id);
};

/** Substrings of the texts of every length, unchanged and in the other letter case. */
const stretches = odd.flatMap((text) => {
  const letters = [...text];
  return [1, 2, 3, 5, letters.length].flatMap((length) => {
    const from = (length * 5) % Math.max(1, letters.length - length + 1);
    const stretch = letters.slice(from, from + length).join('');
    return [stretch, stretch.toLowerCase(), stretch.toUpperCase()];
  });
});
const asked = [...new Set([...stretches, '%', '_', '\\', '%%', '__', 'no such text', '.', ' '])].filter(
  (q) => q !== '',
);

test('a search finds the same as a scan of every row, for any text', {
  tags: 'slow',
  timeout: 180_000,
}, async () => {
  for (const q of asked) {
    expect(await searched('licenses', q), JSON.stringify(q)).toEqual(
      await plainly('licenses', ['key_prefix', 'note', 'hwid', 'last_ip'], q),
    );
  }
  for (const q of asked) {
    expect(await searched('users', q), JSON.stringify(q)).toEqual(
      await plainly('end_users', ['username', 'email', 'last_ip', 'last_hwid'], q),
    );
  }
});

test('a text that spans two columns is not found', async () => {
  const [first = '', second = ''] = [odd[14], odd[(14 * 7 + 3) % odd.length]];
  expect(await searched('licenses', `${first}\n${second}`)).toEqual([]);
});
