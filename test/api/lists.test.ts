import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sql } from '../setup/stored.ts';
import { forTest, useServer } from '../setup/use-world.ts';
import { createWorld } from '../setup/world.ts';
import { apiKeysAnswer, applicationsAnswer, bansAnswer, expectIssue, expectSuccess } from './support.ts';

const server = useServer({ env: { COUNT_LIMITS: 'applications=5000,apiKeys=5000' } });
const world = forTest(() => createWorld(server));
const application = forTest(() => world.createApplication());

/** SQL of a new random id. */
const someId = `overlay(gen_random_uuid()::text PLACING '7' FROM 15)::uuid`;

const addApplications = (count: number, responseMessages: object = {}) =>
  sql(
    server,
    `INSERT INTO applications (id, developer_id, name, public_key, private_key_encrypted, response_messages)
     SELECT ${someId}, $1, 'App ' || number, decode(repeat('00', 32), 'hex'), decode(repeat('00', 60), 'hex'), $3 FROM generate_series(1, $2::int) AS number`,
    [world.developer.id, count, responseMessages],
  );
const addBans = (count: number) =>
  sql(
    server,
    `INSERT INTO bans (id, application_id, ban_type, value)
     SELECT ${someId}, $1, 'hwid', 'device ' || number FROM generate_series(1, $2::int) AS number`,
    [application.id, count],
  );
const addApiKeys = (count: number) =>
  sql(
    server,
    `INSERT INTO api_keys (id, developer_id, name, key_hash, key_prefix)
     SELECT ${someId}, $1, 'key', sha256(gen_random_uuid()::text::bytea), 'service_live_AbCd'
     FROM generate_series(1, $2::int)`,
    [world.developer.id, count],
  );

interface List {
  readonly name: string;
  readonly path: () => string;
  /** Adds this many rows. */
  readonly add: (count: number) => Promise<unknown>;
  /** The number of rows before. */
  readonly before: number;
  readonly answer: z.ZodType<{ nextCursor: string | null }>;
  readonly member: string;
}

const lists: readonly List[] = [
  {
    name: 'applications',
    path: () => '/api/v1/apps/',
    add: addApplications,
    before: 1,
    answer: applicationsAnswer,
    member: 'applications',
  },
  {
    name: 'bans',
    path: () => `/api/v1/apps/${application.id}/bans`,
    add: addBans,
    before: 0,
    answer: bansAnswer,
    member: 'bans',
  },
  {
    name: 'API keys',
    path: () => '/api/v1/account/api-keys',
    add: addApiKeys,
    before: 0,
    answer: apiKeysAnswer,
    member: 'keys',
  },
];

describe.each(lists)('the list of $name', ({ path, add, before, answer, member }) => {
  const rowsOf = z.object({ [member]: z.array(z.object({ id: z.string() })) });
  const read = async (query = '') => {
    const got = await world.client.get(`${path()}${query}`);
    const { nextCursor } = expectSuccess(got, 200, answer);
    return { ids: (rowsOf.parse(got.body)[member] ?? []).map(({ id }) => id), nextCursor };
  };
  /** All pages from a cursor on. */
  const readAll = async (limit: string) => {
    const pages: string[][] = [];
    for (let cursor: string | null = null; ; ) {
      const { ids, nextCursor } = await read(`?${limit}${cursor === null ? '' : `&cursor=${cursor}`}`);
      pages.push(ids);
      if (nextCursor === null) return pages;
      cursor = nextCursor;
    }
  };
  const newestFirst = (ids: readonly string[]) => ids.toSorted().toReversed();

  test('is returned completely, and says that there is no more', async () => {
    await add(450);
    const { ids, nextCursor } = await read();
    expect(new Set(ids).size).toBe(450 + before);
    expect(ids).toEqual(newestFirst(ids));
    expect(nextCursor).toBeNull();
  });

  test('ends at 1,000 rows with a cursor', async () => {
    await add(1_234 - before);
    const pages = await readAll('');
    expect(pages.map((ids) => ids.length)).toEqual([1_000, 234]);
    expect(new Set(pages.flat()).size).toBe(1_234);
    expect(pages.flat()).toEqual(newestFirst(pages.flat()));
  });

  test('is paged if a limit is given', async () => {
    await add(7 - before);
    const whole = await read();
    const pages = await readAll('limit=3');
    expect(pages.map((ids) => ids.length)).toEqual([3, 3, 1]);
    expect(pages.flat()).toEqual(whole.ids);
    expect((await read('?limit=7')).nextCursor).toBeNull();
  });

  test.each(['0', '201', 'many', '-1', '1.5'])('refuses the limit %j', async (limit) => {
    expectIssue(await world.client.get(`${path()}?limit=${limit}`), 'limit');
  });

  test('refuses an invalid cursor', async () => {
    expectIssue(await world.client.get(`${path()}?cursor=elsewhere`), 'cursor');
  });

  test('shows only the developer’s own rows, whatever the cursor', async () => {
    await add(3);
    const { nextCursor } = await read('?limit=1');
    const stranger = await createWorld(server);
    const got = await stranger.client.get(`${path()}?cursor=${nextCursor}`);
    if (member === 'bans') expect(got.status).toBe(404);
    else expect(rowsOf.parse(got.body)[member]).toEqual([]);
  });
});

describe('applications with long messages', () => {
  const keys = ['OK', 'BANNED', 'EXPIRED', 'HWID_MISMATCH', 'LICENSE_NOT_FOUND', 'USERNAME_TAKEN'];
  const messages = Object.fromEntries(keys.map((key) => [key, '語'.repeat(500)]));

  test.each(['', '?limit=200'])('are returned in responses of at most 4 MB: "%s"', async (query) => {
    await addApplications(600, messages);
    const seen = new Set<string>();
    let answers = 0;
    for (let cursor: string | null = null; answers === 0 || cursor !== null; answers += 1) {
      const next: string = cursor === null ? query : `${query === '' ? '?' : `${query}&`}cursor=${cursor}`;
      const response = await world.client.open('GET', `/api/v1/apps/${next}`);
      const text = await response.text();
      expect(Buffer.byteLength(text)).toBeLessThan(4_100_000);
      const { applications, nextCursor } = applicationsAnswer.parse(JSON.parse(text));
      for (const { id } of applications) seen.add(id);
      cursor = nextCursor;
    }
    expect(seen.size).toBe(601);
    expect(answers).toBeGreaterThan(1);
  });
});
