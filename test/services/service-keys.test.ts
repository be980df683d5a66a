import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { createKeyring, type Keyring } from '../../src/crypto/keyring.ts';
import type { Database } from '../../src/db/database.ts';
import { countServiceKeys, resealServiceKeys } from '../../src/services/service-key/reseal.ts';
import { createServiceKeyRing } from '../../src/services/service-key/ring.ts';
import { createTestDatabase, databaseKinds } from '../setup/database.ts';

/** One database of each kind for the file. Its tests run one after another, each without the keys of the last. */
const databases = new Map<'memory' | 'server', Promise<Database>>();
const databaseOf = (kind: 'memory' | 'server'): Promise<Database> => {
  const database = databases.get(kind) ?? createTestDatabase(kind);
  databases.set(kind, database);
  return database;
};
afterAll(async () => {
  for (const database of databases.values()) await (await database).close();
});

const hour = 3_600;
/** In seconds. A little more than the announcement needs: PostgreSQL rounds the time of a new key up by half a millisecond. */
const untilAnnounced = 10.1;
const keyring = createKeyring(randomBytes(32));

interface Instance {
  readonly ring: ReturnType<typeof createServiceKeyRing>;
  /** Lets time pass for this instance alone, in seconds. */
  pass(seconds: number): void;
  /** Loses what the replay guard remembered. */
  lose(epoch: string): void;
}

const has = async (ring: Instance['ring'], keyId: number) => (await ring.find(keyId)) !== null;

async function open(kind: 'memory' | 'server') {
  const { pool } = await databaseOf(kind);
  await pool.query('DELETE FROM service_keys');
  const begin = (epoch = 'first', keys: Keyring = keyring): Instance => {
    let steady = 0;
    const store = { epoch };
    const ring = createServiceKeyRing({ pool, keyring: keys, store, monotonic: () => steady });
    return {
      ring,
      pass: (seconds) => {
        steady += seconds * 1000;
      },
      lose: (next) => {
        store.epoch = next;
      },
    };
  };
  return {
    pool,
    begin,
    /** Makes all keys older, as the database sees it. */
    age: (seconds: number) =>
      pool.query('UPDATE service_keys SET created_at = created_at - make_interval(secs => $1)', [seconds]),
    keyIds: async () => {
      const { rows } = await pool.query<{ id: number }>('SELECT key_id AS id FROM service_keys');
      return rows.map(({ id }) => id);
    },
  };
}

describe.each(databaseKinds)('the keys of protocol version 2, on %s,', (kind) => {
  test('are shared by all instances, also when all ask for the first one at once', async () => {
    const { begin, keyIds } = await open(kind);
    const keys = await Promise.all(Array.from({ length: 8 }, () => begin().ring.announced()));
    expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(1);
    expect(await keyIds()).toEqual([keys[0]?.keyId]);
  });

  test('are replaced after 24 hours, once, however many instances look', async () => {
    const { begin, age, keyIds } = await open(kind);
    const instances = Array.from({ length: 4 }, () => begin());
    const [first] = await Promise.all(instances.map(({ ring }) => ring.announced()));
    await age(24 * hour - 60);
    await Promise.all(instances.map(({ ring }) => ring.refresh()));
    expect(await keyIds()).toHaveLength(1);
    await age(60);
    await Promise.all(instances.map(({ ring }) => ring.refresh()));
    expect(await keyIds()).toHaveLength(2);
    expect(await has(begin().ring, first?.keyId ?? -1)).toBe(true);
  });

  test('are announced once other instances have had time to read them', async () => {
    const { begin, age } = await open(kind);
    const { ring, pass } = begin();
    const old = await ring.announced();
    await age(24 * hour);
    await ring.refresh();
    expect((await ring.announced()).keyId).toBe(old.keyId);
    pass(untilAnnounced);
    const announced = await ring.announced();
    expect(announced.keyId).not.toBe(old.keyId);
    expect(announced.notBefore).toBeGreaterThan(old.notBefore);
  });

  test('open requests on every instance at once, and for 73 hours', async () => {
    const { begin, age, keyIds } = await open(kind);
    const other = begin();
    await other.ring.refresh();
    const { ring } = begin();
    const { keyId } = await ring.announced();
    expect(await has(other.ring, keyId)).toBe(true);
    await age(73 * hour - 60);
    await ring.refresh();
    expect(await has(ring, keyId)).toBe(true);
    await age(60);
    await ring.refresh();
    expect(await keyIds()).not.toContain(keyId);
  });

  test('have ids that are not used again while the key exists, and fit into a byte', async () => {
    const { begin, age, pool } = await open(kind);
    const { ring } = begin();
    await ring.announced();
    await pool.query('UPDATE service_keys SET key_id = 255');
    await age(24 * hour);
    await ring.refresh();
    const { rows } = await pool.query<{ id: number }>(
      'SELECT key_id AS id FROM service_keys ORDER BY not_before',
    );
    expect(rows.map(({ id }) => id)).toEqual([255, 0]);
  });

  test('are at most 32, however often a process starts', async () => {
    const { begin, keyIds } = await open(kind);
    for (let start = 0; start < 40; start += 1) await begin(`start ${start}`).ring.announced();
    expect((await keyIds()).length).toBeLessThanOrEqual(33);
    const last = begin('last');
    await last.ring.refresh();
    expect(await keyIds()).toHaveLength(32);
  });

  test('of a secret that is unknown here are left alone, and one is made that can be used', async () => {
    const { begin, keyIds } = await open(kind);
    const foreign = begin('first', createKeyring(randomBytes(32)));
    const { keyId } = await foreign.ring.announced();
    const { ring } = begin();
    expect(await has(ring, keyId)).toBe(false);
    expect((await ring.announced()).keyId).not.toBe(keyId);
    expect(await keyIds()).toContain(keyId);
  });
});

describe.each(databaseKinds)('after the replay guard has lost its memory, on %s,', (kind) => {
  test('earlier keys are unknown from then on, and a new one is announced', async () => {
    const { begin, age } = await open(kind);
    const { ring, pass, lose } = begin();
    const old = await ring.announced();
    await age(60);
    lose('second');
    expect(await has(ring, old.keyId)).toBe(false);
    expect((await ring.announced()).keyId).not.toBe(old.keyId);
    // A clock that was set back comes to the time of a recorded request again.
    pass(hour);
    await age(hour);
    await ring.refresh();
    expect(await has(ring, old.keyId)).toBe(false);
  });

  test('so it is after a restart', async () => {
    const { begin, age } = await open(kind);
    const old = await begin().ring.announced();
    await age(60);
    const { ring } = begin('second');
    expect((await ring.announced()).keyId).not.toBe(old.keyId);
    expect(await has(ring, old.keyId)).toBe(false);
  });

  test('a key of another memory is unknown, whoever was first', async () => {
    const { begin } = await open(kind);
    const one = begin('one');
    const two = begin('two');
    const keys = [await one.ring.announced(), await two.ring.announced()];
    expect(await has(one.ring, keys[1]?.keyId ?? -1)).toBe(false);
    expect(await has(two.ring, keys[0]?.keyId ?? -1)).toBe(false);
  });
});

describe.each(databaseKinds)('clocks, on %s:', (kind) => {
  test('a key from the future is replaced and destroyed in time, and announcements never go back', async () => {
    const { begin, age, pool, keyIds } = await open(kind);
    const { ring, pass } = begin();
    await ring.announced();
    await pool.query(
      `UPDATE service_keys SET created_at = created_at + interval '1 year', not_before = not_before + interval '1 year',
         not_after = not_after + interval '1 year'`,
    );
    await ring.refresh();
    const future = await ring.announced();
    await age(24 * hour);
    await ring.refresh();
    pass(untilAnnounced);
    const next = await ring.announced();
    expect(next.keyId).not.toBe(future.keyId);
    expect(next.notBefore).toBeGreaterThan(future.notBefore);
    await age(49 * hour);
    await ring.refresh();
    expect(await keyIds()).not.toContain(future.keyId);
  });

  test('a small step back changes nothing', async () => {
    const { begin, age, keyIds } = await open(kind);
    const { ring } = begin();
    await ring.announced();
    await age(-290);
    await ring.refresh();
    expect(await keyIds()).toHaveLength(1);
  });

  test('a newest key that the database has lost is followed by one that clients accept', async () => {
    const { begin, age, pool } = await open(kind);
    const { ring, pass } = begin();
    await ring.announced();
    await age(24 * hour);
    await ring.refresh();
    pass(untilAnnounced);
    const lost = await ring.announced();
    await pool.query('DELETE FROM service_keys WHERE key_id = $1', [lost.keyId]);
    // What is left is not due to be replaced.
    await age(-23 * hour);
    await ring.refresh();
    pass(untilAnnounced);
    expect((await ring.announced()).notBefore).toBeGreaterThan(lost.notBefore);
  });
});

test.each(databaseKinds)(
  'a start replaces a key that clients may have a successor of, as the database may be an earlier one, on %s',
  async (kind) => {
    const { begin, age, keyIds } = await open(kind);
    await begin().ring.refresh();
    await age(590);
    await begin().ring.refresh();
    expect(await keyIds()).toHaveLength(1);
    await age(10);
    await Promise.all(Array.from({ length: 4 }, () => begin().ring.refresh()));
    expect(await keyIds()).toHaveLength(2);
    // Not again while it runs.
    const { ring } = begin();
    await ring.refresh();
    await age(hour);
    await ring.refresh();
    expect(await keyIds()).toHaveLength(2);
  },
);

test.each(databaseKinds)('a rotated master secret re-encrypts the keys, on %s', async (kind) => {
  const { begin, pool } = await open(kind);
  const { keyId } = await begin().ring.announced();
  const secret = randomBytes(32);
  const old = randomBytes(32);
  const [before, after] = [createKeyring(old), createKeyring(secret, [{ secret: old, replacedAt: null }])];
  await pool.query('DELETE FROM service_keys');
  const first = await begin('first', before).ring.announced();
  expect(await countServiceKeys(pool, after)).toMatchObject({ current: 0, previous: 1, unreadable: 0 });
  await resealServiceKeys(pool, after);
  expect(await countServiceKeys(pool, after)).toMatchObject({ current: 1, previous: 0, unreadable: 0 });
  const found = await begin('first', createKeyring(secret)).ring.find(first.keyId);
  expect(found?.publicKey).toEqual(first.publicKey);
  expect(await countServiceKeys(pool, before)).toMatchObject({ unreadable: 1 });
  expect(keyId).toBeGreaterThanOrEqual(0);
});
