import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { sweepDeletedOwners } from '../../src/db/deleted-owners.ts';
import { lowestId } from '../../src/db/log-partition.ts';
import { dropExpiredLogPartitions } from '../../src/db/log-partitions.ts';
import { minEntries } from '../../src/db/log-search/backlog.ts';
import { indexEntries } from '../../src/db/log-search/index-entries.ts';
import { readMigrations } from '../../src/db/migrations.ts';
import { buildSearchIndexes, tidySearchIndexes } from '../../src/db/search-indexes.ts';
import type { DeveloperId } from '../../src/lib/ids.ts';
import type { ServiceContext } from '../../src/services/context.ts';
import { nearRows } from '../../src/services/list-search.ts';
import { logOfApplications } from '../../src/services/security-log/lists.ts';
import { databaseKinds, silent } from '../setup/database.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { recordCalls } from '../setup/statements.ts';
import { createWorld, type World } from '../setup/world.ts';

const migrationName = 'find_log_entries_by_what_they_hold';
const day = 24 * 60 * 60 * 1000;

/** An id from this many days ago. */
const idOfAge = (age: number) =>
  lowestId(Math.floor(Date.now() - age * day)).slice(0, 14) + randomUUID().slice(14);

interface Entry {
  /** Days before now. */
  readonly age: number;
  readonly event: string;
  readonly code: string | null;
  readonly ip: string | null;
  readonly country: string | null;
  readonly hwid: string | null;
}

const plain = { event: 'license_validated', code: 'OK', ip: null, country: null, hwid: null } as const;

/** Texts with common substrings, including pattern characters and different letter cases. */
const texts = [
  'ABC',
  'abcd',
  'bcd_e',
  'BCDXE',
  '203.0.113.7',
  '203.0.113.77',
  'ÄÖÜ-1',
  'äöü-12',
  '100%',
  '1000',
];
const hexadecimal = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength, maxLength });
const entry: fc.Arbitrary<Entry> = fc.record({
  // Most are within minutes of others, some are days away, in another week's partition.
  age: fc.oneof(fc.double({ min: 0, max: 0.01, noNaN: true }), fc.double({ min: 0, max: 6, noNaN: true })),
  event: fc.constantFrom('license_validated', 'user_logged_in', 'hwid_reset'),
  code: fc.constantFrom(null, 'OK', 'OK', 'HWID_MISMATCH', ''),
  ip: fc.constantFrom(null, ...texts),
  country: fc.constantFrom(null, 'SE', 'DE'),
  hwid: fc.oneof(fc.constantFrom(null, ...texts), hexadecimal(3, 8)),
});

const step = fc.oneof(
  fc.record({ do: fc.constant('write'), entries: fc.array(entry, { minLength: 1, maxLength: 150 }) }),
  // Stays open until the end: all later steps are committed before it.
  fc.record({ do: fc.constant('write late'), entries: fc.array(entry, { minLength: 1, maxLength: 20 }) }),
  fc.record({ do: fc.constant('index'), batch: fc.integer({ min: 2, max: 700 }) }),
);

const search = fc.record({
  q: fc.oneof(
    fc.constantFrom(
      'abc',
      'BCD',
      'cd_',
      '203.0',
      '113.7',
      '77',
      'äöü',
      '0%',
      'mismatch',
      'reset',
      'nothing',
      'se',
    ),
    hexadecimal(3, 4),
  ),
  size: fc.integer({ min: 1, max: 60 }),
  backward: fc.boolean(),
  /** A fraction of the existing rows. */
  from: fc.option(fc.double({ min: 0, max: 0.999, noNaN: true })),
  codes: fc.option(fc.constantFrom(['OK'], ['HWID_MISMATCH'])),
});

describe.each(databaseKinds)('a search of the security log on %s', (kind) => {
  let server: TestServer;
  let world: World;
  let ctx: ServiceContext;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startTestServer({ database: kind, env: { RATE_LIMIT_AUTH_PER_MINUTE: '100000' } });
    world = await createWorld(server);
    pool = server.deps.services.database.pool;
    ctx = {
      env: server.deps.services,
      actor: {
        type: 'developer',
        developerId: world.developer.id as DeveloperId,
        via: 'apiKey',
        name: 'key',
        keyHash: new Uint8Array(32),
        scopes: ['*'],
        applicationId: null,
        allowedCidrs: [],
        apiKeyId: '',
      },
      client: { ip: null, limitKey: 'unknown', country: null },
      notes: { applicationId: null, code: null },
    };
  }, 240_000);
  afterAll(() => server.close());

  const write = (client: pg.Pool | pg.PoolClient, applicationId: string, entries: readonly Entry[]) =>
    client.query(
      `INSERT INTO security_log (id, developer_id, application_id, event, code, ip, country, hwid)
       SELECT id, $1, $2, event, code, ip, country, hwid FROM jsonb_to_recordset($3::jsonb)
         AS t (id uuid, event text, code text, ip text, country text, hwid text)`,
      [
        world.developer.id,
        applicationId,
        JSON.stringify(entries.map(({ age, ...fields }) => ({ ...fields, id: idOfAge(age) }))),
      ],
    );

  /** An application whose nearest rows have no text, so that searches in both directions look beyond them. */
  const application = async () => {
    const { id } = await world.createApplication();
    const filler = (age: number) => Array<Entry>(nearRows + 1).fill({ ...plain, age });
    await write(pool, id, filler(-1));
    await write(pool, id, filler(6.5));
    return id;
  };

  const idsOf = async (text: string, values: readonly unknown[]) =>
    (await pool.query<{ id: string }>(text, [...values])).rows.map(({ id }) => id);

  /** The result of scanning every row, which a search must equal. */
  const scan = (applicationId: string, q: string, codes: readonly string[] | null) =>
    idsOf(
      `SELECT id FROM security_log WHERE application_id = $1 AND ($3::text[] IS NULL OR code = ANY($3))
         AND EXISTS (SELECT FROM unnest(ARRAY[event, code, ip, country, hwid]) AS text
           WHERE strpos(lower(text), lower($2)) > 0)
       ORDER BY id DESC`,
      [applicationId, q, codes],
    );

  const ask = async (
    applicationId: string,
    q: string,
    slice = { size: 200, backward: false, fromId: null as string | null },
    codes: readonly string[] | null = null,
  ) => {
    const query = { ctx, parentIds: [applicationId], filter: { q, ...(codes && { codes: [...codes] }) } };
    const slices = await logOfApplications.slices({ ...query, slice, lookAhead: true, columns: ['id'] });
    const { rows = [], hasNextPage, hasPreviousPage } = slices.get(applicationId) ?? {};
    const further = slice.backward ? hasPreviousPage : hasNextPage;
    return { ids: rows.map(({ id }) => id), further };
  };

  /** The number of entries waiting to be indexed. */
  const waiting = async (applicationId: string) => {
    const { rows } = await pool.query<{ entries: number }>(
      'SELECT coalesce(sum(entries), 0)::float8 AS entries FROM log_search_backlog WHERE application_id = $1',
      [applicationId],
    );
    return rows[0]?.entries ?? 0;
  };

  /** Indexes until too few entries are left. The service itself may hold the lock at times. */
  const gatherAllOf = async (applicationId: string, batch: number) => {
    while ((await waiting(applicationId)) >= minEntries) await indexEntries(pool, applicationId, batch);
  };

  const count = async (applicationId: string, q: string) =>
    (await logOfApplications.counts({ ctx, parentIds: [applicationId], filter: { q } })).get(applicationId)
      ?.count ?? 0;

  test('finds the same as a scan of every row, however far indexing is and however late transactions commit', {
    tags: 'slow',
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 8 }),
        fc.array(search, { minLength: 1, maxLength: 8 }),
        async (steps, searches) => {
          const id = await application();
          const late: { commit(): Promise<void> }[] = [];
          const compare = async () => {
            const all = await idsOf(
              'SELECT id FROM security_log WHERE application_id = $1 ORDER BY id DESC',
              [id],
            );
            for (const { q, size, backward, from, codes } of searches) {
              const fromId = from === null ? null : (all[Math.floor(from * all.length)] ?? null);
              const matching = await scan(id, q, codes);
              const beyond = matching.filter(
                (each) => fromId === null || (backward ? each > fromId : each < fromId),
              );
              const expected = backward ? beyond.slice(-size) : beyond.slice(0, size);
              const found = await ask(id, q, { size, backward, fromId }, codes);
              expect(found).toEqual({ ids: expected, further: beyond.length > size });
              expect(await count(id, q)).toBe((await scan(id, q, null)).length);
            }
          };
          try {
            for (const each of steps) {
              if ('batch' in each) await indexEntries(pool, id, each.batch);
              else if (each.do === 'write' || kind === 'memory') await write(pool, id, each.entries);
              else late.push(await writeLate(id, each.entries));
            }
            await compare();
          } finally {
            for (const { commit } of late) await commit();
          }
          await compare();
          await gatherAllOf(id, 300);
          await compare();
        },
      ),
      { numRuns: 8 },
    );
  });

  const writeLate = async (applicationId: string, entries: readonly Entry[]) => {
    const client = await pool.connect();
    await client.query('BEGIN');
    // Not validations: a transaction that counts one blocks others that count one in the same minute.
    await write(
      client,
      applicationId,
      entries.map((fields) => ({ ...fields, event: 'user_logged_in' })),
    );
    return {
      commit: async () => {
        await client.query('COMMIT');
        client.release();
      },
    };
  };

  test('finds an entry as soon as it is committed, while others write and entries are indexed', async () => {
    const id = await application();
    let writing = true;
    const indexing = (async () => {
      while (writing) {
        await indexEntries(pool, id, 700);
        await sleep(1);
      }
    })();
    const writer = async (name: string) => {
      for (let number = 0; number < 15; number++) {
        const hwid = `device-${name}-${number}-`;
        const others = Array<Entry>(40).fill({ ...plain, age: number / 5, ip: '192.0.2.7' });
        await write(pool, id, [...others, { ...plain, age: (number % 6) + 0.1, hwid }]);
        expect((await ask(id, hwid.toUpperCase())).ids).toHaveLength(1);
      }
    };
    await Promise.all(['a', 'b', 'c', 'd'].map(writer)).finally(() => {
      writing = false;
    });
    await indexing;
    expect(await scan(id, 'device-', null)).toEqual((await ask(id, 'device-')).ids);
  }, 240_000);

  test('finds a text in more values than are looked up one by one', {
    tags: 'slow',
    timeout: 240_000,
  }, async () => {
    const id = await application();
    const devices = Array.from({ length: 1_500 }, (_, number) => ({
      ...plain,
      age: 3 + number / 1_000,
      hwid: `common-${number}`,
    }));
    await write(pool, id, devices);
    await gatherAllOf(id, 1_000);
    const found = await scan(id, 'common-', null);
    expect(found).toHaveLength(1_500);
    expect((await ask(id, 'common-')).ids).toEqual(found.slice(0, 200));
    expect(await count(id, 'common-')).toBe(1_500);
  });

  test('finds entries from before the search tables existed, before and after they are indexed', {
    tags: 'slow',
    timeout: 240_000,
  }, async () => {
    const id = await application();
    await pool.query('DELETE FROM log_search_backlog');
    await pool.query('ALTER TABLE security_log DISABLE TRIGGER security_log_notes_backlog');
    const old = (hwid: string, age: number) => write(pool, id, [{ ...plain, age, hwid }]);
    await old('old device', 2);
    await old('older device', 5);
    await pool.query('ALTER TABLE security_log ENABLE TRIGGER security_log_notes_backlog');
    expect((await ask(id, 'old')).ids).toEqual([]);
    const [migration] = (await readMigrations()).filter(({ name }) => name.endsWith(migrationName));
    const note = /INSERT INTO "log_search_backlog"[^;]*FROM "applications";/.exec(migration?.sql ?? '');
    await pool.query(note?.[0] ?? '');
    const found = await scan(id, 'old', null);
    expect(found).toHaveLength(2);
    while ((await waiting(id)) > 0) {
      expect((await ask(id, 'old')).ids).toEqual(found);
      await indexEntries(pool, id, 900);
    }
    expect((await ask(id, 'old')).ids).toEqual(found);
  });

  const kept = async (applicationId: string) => {
    const { rows } = await pool.query<{ kept: string[] }>(
      `SELECT array_agg(kept ORDER BY kept) AS kept FROM (
         SELECT 'backlog' AS kept FROM log_search_backlog WHERE application_id = $1
         UNION SELECT 'blocks' FROM log_search_blocks WHERE application_id = $1
         UNION SELECT value FROM log_search_values WHERE application_id = $1
       ) AS kept`,
      [applicationId],
    );
    return rows[0]?.kept ?? [];
  };

  test('keeps no data of a deleted application', async () => {
    const id = await application();
    await gatherAllOf(id, 1_000);
    await write(pool, id, [{ ...plain, age: 0 }]);
    expect(await kept(id)).toEqual(expect.arrayContaining(['OK', 'backlog', 'blocks', 'license_validated']));
    const answer = await world.client.delete(`/api/v1/apps/${id}`);
    expect(answer.status).toBe(200);
    // On an embedded database, large applications are deleted in short statements, later.
    await sweepDeletedOwners(pool, new AbortController().signal);
    expect(await kept(id)).toEqual([]);
    expect(await indexEntries(pool, id, 1_000)).toBe(false);
  }, 240_000);

  test('uses the indexes for a text that the nearest entries do not contain', {
    tags: 'slow',
    timeout: 240_000,
  }, async () => {
    await buildSearchIndexes(pool, silent);
    const id = await application();
    const entries = Array.from({ length: 3_000 }, (_, number) => ({
      ...plain,
      age: 1,
      hwid: `device-${number}`,
    }));
    await write(pool, id, entries);
    await gatherAllOf(id, 5_000);
    await tidySearchIndexes(pool);
    await pool.query('ANALYZE log_search_values, log_search_blocks');
    const { sent, stop } = recordCalls(pool);
    await ask(id, '203.0.113.7');
    stop();
    const [text, values] = sent.find(([statement]) => String(statement).includes('log_search_values')) ?? [];
    const client = await pool.connect();
    try {
      // For so few rows, the planner would prefer a sequential scan.
      await client.query('BEGIN; SET LOCAL enable_seqscan = off');
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN ${String(text)}`,
        z.array(z.unknown()).parse(values),
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toContain('log_search_values_search_idx');
      expect(plan).toContain('log_search_blocks_value_ids_idx');
      expect(plan).not.toMatch(/Seq Scan on (log_search|security_log)/);
      await client.query('ROLLBACK');
    } finally {
      client.release();
    }
  });

  test('keeps a text not much longer than the entries that contain it', {
    tags: 'slow',
    timeout: 240_000,
  }, async () => {
    const id = await application();
    await write(pool, id, [{ ...plain, age: 6, hwid: 'gone soon' }]);
    await gatherAllOf(id, 5_000);
    await write(pool, id, [{ ...plain, age: 6, hwid: 'gone soon' }]);
    expect(await kept(id)).toEqual(expect.arrayContaining(['OK', 'backlog', 'blocks', 'gone soon']));
    await dropExpiredLogPartitions(pool, new Date(), 8);
    expect(await kept(id)).toContain('gone soon');
    await expect
      .poll(
        async () => {
          await dropExpiredLogPartitions(pool, new Date(Date.now() + 40 * day), 21);
          return kept(id);
        },
        { timeout: 60_000 },
      )
      .toEqual([]);
  });
});
