import { describe, expect, test } from 'vitest';
import { createCache } from '../../src/ephemeral/cache.ts';
import { deferred } from './support.ts';

function localCache(maxEntries = 10) {
  return createCache<string | null>({ name: 'words', maxEntries });
}

test('a value is loaded once and then cached, including null', async () => {
  const cache = localCache();
  for (const value of ['one', null]) {
    let loads = 0;
    const load = async () => {
      loads += 1;
      return value;
    };
    const key = `key of ${value}`;
    expect(cache.peek(key)).toBeUndefined();
    expect(await cache.get(key, load)).toBe(value);
    expect(await cache.get(key, load)).toBe(value);
    expect(cache.peek(key)).toBe(value);
    expect(loads).toBe(1);
  }
});

test('concurrent requests for a key share one load', async () => {
  const cache = localCache();
  const answer = deferred<string>();
  let loads = 0;
  const load = () => {
    loads += 1;
    return answer.promise;
  };
  const asking = Array.from({ length: 50 }, () => cache.get('key', load));
  answer.resolve('value');
  expect(new Set(await Promise.all(asking))).toEqual(new Set(['value']));
  expect(loads).toBe(1);
});

test('a failed load rejects all waiting requests and is not cached', async () => {
  const cache = localCache();
  const answer = deferred<string>();
  const asking = [cache.get('key', () => answer.promise), cache.get('key', () => answer.promise)];
  answer.reject(new Error('the database is away'));
  for (const one of asking) await expect(one).rejects.toThrow('the database is away');
  expect(await cache.get('key', async () => 'value')).toBe('value');
});

test('a loader that throws synchronously is a failed load too', async () => {
  const cache = localCache();
  const asking = cache.get('key', () => {
    throw new Error('at once');
  });
  await expect(asking).rejects.toThrow('at once');
  expect(await cache.get('key', async () => 'value')).toBe('value');
});

test('a forgotten key is loaded anew, others stay', async () => {
  const cache = localCache();
  for (const key of ['a', 'b', 'c']) await cache.get(key, async () => 'old');
  cache.forget(['a', 'c', 'unknown']);
  expect([cache.peek('a'), cache.peek('b'), cache.peek('c')]).toEqual([undefined, 'old', undefined]);
});

test('a load that began before its key was forgotten is not stored', async () => {
  const cache = localCache();
  const old = deferred<string>();
  const early = cache.get('key', () => old.promise);
  const bystander = cache.get('other', () => old.promise);
  cache.forget(['key']);
  old.resolve('old');
  expect(await early).toBe('old');
  expect(await bystander).toBe('old');
  expect(cache.peek('key')).toBeUndefined();
  expect(cache.peek('other')).toBe('old');
});

test('a caller that asks after its key was forgotten does not join an earlier load', async () => {
  const cache = localCache();
  const old = deferred<string>();
  const early = cache.get('key', () => old.promise);
  cache.forget(['key']);
  const fresh = deferred<string>();
  const late = cache.get('key', () => fresh.promise);
  const later = cache.get('key', async () => 'a third load');
  fresh.resolve('new');
  expect(await late).toBe('new');
  expect(await later).toBe('new');
  old.resolve('old');
  expect(await early).toBe('old');
  expect(cache.peek('key')).toBe('new');
});

test('an old load that ends while its successor runs does not store its value or affect the successor', async () => {
  for (const end of ['resolve', 'reject'] as const) {
    const cache = localCache();
    const old = deferred<string>();
    const early = cache.get('key', () => old.promise).catch(() => 'failed');
    cache.forget(['key']);
    const fresh = deferred<string>();
    const late = cache.get('key', () => fresh.promise);
    if (end === 'resolve') old.resolve('old');
    else old.reject(new Error('too late'));
    await early;
    expect(cache.peek('key')).toBeUndefined();
    const joined = cache.get('key', async () => 'a third load');
    fresh.resolve('new');
    expect([await late, await joined]).toEqual(['new', 'new']);
  }
});

test('clear removes everything, including running loads', async () => {
  const cache = localCache();
  await cache.get('a', async () => 'old');
  const old = deferred<string>();
  const early = cache.get('b', () => old.promise);
  cache.clear();
  old.resolve('old');
  await early;
  expect([cache.peek('a'), cache.peek('b')]).toEqual([undefined, undefined]);
});

test('the least recently used entry is evicted beyond the limit', async () => {
  const cache = localCache(2);
  await cache.get('a', async () => '1');
  await cache.get('b', async () => '2');
  cache.peek('a');
  await cache.get('c', async () => '3');
  expect([cache.peek('a'), cache.peek('b'), cache.peek('c')]).toEqual(['1', undefined, '3']);
});

test('while it may not serve, every request loads, and nothing is cached or joined; then it serves its entries', async () => {
  let allowed = true;
  const cache = createCache<number>({
    name: 'numbers',
    maxEntries: 10,
    mayServe: () => allowed,
  });
  let loads = 0;
  const load = async () => {
    loads += 1;
    return loads;
  };
  expect(await cache.get('key', load)).toBe(1);
  allowed = false;
  expect(cache.peek('key')).toBeUndefined();
  expect(await Promise.all([cache.get('key', load), cache.get('key', load)])).toEqual([2, 3]);
  expect(await cache.get('other', load)).toBe(4);
  allowed = true;
  expect(cache.peek('key')).toBe(1);
  expect(cache.peek('other')).toBeUndefined();
});

describe('a group', () => {
  const grouped = (maxEntries = 10) =>
    createCache<string>({ name: 'words', maxEntries, groupOf: (_key, value) => value.slice(0, 1) });

  test('can be removed separately', async () => {
    const cache = grouped();
    for (const value of ['a1', 'a2', 'b1']) await cache.get(value, async () => value);
    cache.forgetGroups(['a', 'unheard of']);
    expect(['a1', 'a2', 'b1'].map((key) => cache.peek(key))).toEqual([undefined, undefined, 'b1']);
  });

  test('removes a load that began before, but not those that end in another group', async () => {
    const cache = grouped();
    const [one, other] = [deferred<string>(), deferred<string>()];
    const loading = [cache.get('one', () => one.promise), cache.get('other', () => other.promise)];
    cache.forgetGroups(['a']);
    one.resolve('a old');
    other.resolve('b');
    expect(await Promise.all(loading)).toEqual(['a old', 'b']);
    expect(['one', 'other'].map((key) => cache.peek(key))).toEqual([undefined, 'b']);
  });

  test('is loaded again for a request after its removal, whatever load is running', async () => {
    const cache = grouped();
    const [old, current] = [deferred<string>(), deferred<string>()];
    const early = cache.get('key', () => old.promise);
    cache.forgetGroups(['a']);
    const late = cache.get('key', () => current.promise);
    current.resolve('a new');
    expect(await late).toBe('a new');
    old.resolve('b old');
    expect(await early).toBe('b old');
    expect(cache.peek('key')).toBe('a new');
  });

  test('follows an entry that changes, is evicted or removed', async () => {
    const cache = grouped(2);
    await cache.get('key', async () => 'a');
    cache.forget(['key']);
    await cache.get('key', async () => 'b');
    cache.forgetGroups(['a']);
    expect(cache.peek('key')).toBe('b');
    for (const key of ['one', 'two']) await cache.get(key, async () => 'a');
    expect(cache.peek('key')).toBeUndefined();
    cache.clear();
    await cache.get('one', async () => 'b');
    cache.forgetGroups(['a']);
    expect(cache.peek('one')).toBe('b');
    cache.forgetGroups(['b']);
    expect(cache.peek('one')).toBeUndefined();
  });
});

test('entries that exceed the weight limit evict the least recently used', async () => {
  const cache = createCache<string>({
    name: 'texts',
    maxEntries: 10,
    weight: { max: 10, of: (text) => text.length },
  });
  for (const text of ['aaaa', 'bbbb', 'cccc']) await cache.get(text, async () => text);
  expect(['aaaa', 'bbbb', 'cccc'].map((key) => cache.peek(key))).toEqual([undefined, 'bbbb', 'cccc']);
  await cache.get('much', async () => 'more than ten letters');
  expect(cache.peek('much')).toBeUndefined();
  expect(cache.peek('cccc')).toBe('cccc');
});
