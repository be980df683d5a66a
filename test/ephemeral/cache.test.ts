import { describe, expect, test } from 'vitest';
import { createCache } from '../../src/ephemeral/cache.ts';
import { createMemoryStore } from '../../src/ephemeral/memory.ts';
import type { ChannelListener, EphemeralStore } from '../../src/ephemeral/store.ts';
import { deferred } from './support.ts';

function localCache(maxEntries = 10) {
  return createCache<string | null>({ name: 'words', maxEntries, store: createMemoryStore() });
}

/** A shared store whose messages the test controls. */
function wire() {
  const listeners: ChannelListener[] = [];
  const sent: string[] = [];
  const state = { live: true };
  let publishing: Promise<void> = Promise.resolve();
  const store: EphemeralStore = {
    ...createMemoryStore(),
    shared: true,
    publish: (_channel, text) => {
      sent.push(text);
      return publishing;
    },
    subscribe: (_channel, listener) => {
      listeners.push(listener);
      return state;
    },
  };
  return {
    store,
    sent,
    publishTakes: (promise: Promise<void>) => {
      publishing = promise;
    },
    deliver: (text: string) => listeners.forEach((listener) => void listener.message(text)),
    goDeaf: () => {
      state.live = false;
    },
    setLive(live: boolean) {
      state.live = live;
      for (const listener of listeners) listener.interrupted();
    },
  };
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

test('an invalidated key is loaded again, others stay cached', async () => {
  const cache = localCache();
  for (const key of ['a', 'b', 'c']) await cache.get(key, async () => 'old');
  await cache.invalidate(['a', 'c', 'unknown']);
  expect([cache.peek('a'), cache.peek('b'), cache.peek('c')]).toEqual([undefined, 'old', undefined]);
});

test('an invalidation takes effect when the call returns, before it is published', async () => {
  const { store, publishTakes } = wire();
  const cache = createCache<string>({ name: 'words', maxEntries: 10, store });
  const published = deferred<void>();
  publishTakes(published.promise);
  await cache.get('key', async () => 'old');
  let done = false;
  const invalidating = cache.invalidate(['key']).then(() => {
    done = true;
  });
  expect(cache.peek('key')).toBeUndefined();
  await new Promise(setImmediate);
  expect(done).toBe(false);
  published.resolve();
  await invalidating;
});

test('a load that began before an invalidation is not stored', async () => {
  const cache = localCache();
  const old = deferred<string>();
  const early = cache.get('key', () => old.promise);
  const bystander = cache.get('other', () => old.promise);
  void cache.invalidate(['key']);
  old.resolve('old');
  expect(await early).toBe('old');
  expect(await bystander).toBe('old');
  expect(cache.peek('key')).toBeUndefined();
  expect(cache.peek('other')).toBe('old');
});

test('a request after an invalidation does not join a load from before it', async () => {
  const cache = localCache();
  const old = deferred<string>();
  const early = cache.get('key', () => old.promise);
  void cache.invalidate(['key']);
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
    void cache.invalidate(['key']);
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

test('an instance that starts clears the others, because an earlier one may have ended without publishing', async () => {
  const one = wire();
  const two = wire();
  const reader = createCache<string>({ name: 'words', maxEntries: 10, store: two.store });
  await reader.get('a', async () => 'old');
  createCache<string>({ name: 'words', maxEntries: 10, store: one.store });
  expect(one.sent).toEqual([expect.stringContaining('"keys":"all"')]);
  two.deliver(one.sent[0] ?? '');
  expect(reader.peek('a')).toBeUndefined();
});

test('an invalidation of another instance removes the entry and its running load', async () => {
  const one = wire();
  const two = wire();
  const writer = createCache<string>({ name: 'words', maxEntries: 10, store: one.store });
  const reader = createCache<string>({ name: 'words', maxEntries: 10, store: two.store });
  await reader.get('a', async () => 'old');
  await reader.get('b', async () => 'old');
  const old = deferred<string>();
  const early = reader.get('c', () => old.promise);
  await writer.invalidate(['a', 'c']);
  // The first is the greeting.
  expect(one.sent).toHaveLength(2);
  two.deliver(one.sent.at(-1) ?? '');
  old.resolve('old');
  await early;
  expect(['a', 'b', 'c'].map((key) => reader.peek(key))).toEqual([undefined, 'old', undefined]);
});

test("an instance's own message does not remove what it has loaded since", async () => {
  const { store, sent, deliver } = wire();
  const cache = createCache<string>({ name: 'words', maxEntries: 10, store });
  await cache.invalidate(['key']);
  await cache.get('key', async () => 'new');
  deliver(sent.at(-1) ?? '');
  expect(cache.peek('key')).toBe('new');
});

test('very many keys are sent in several messages, and no other key is removed', async () => {
  const one = wire();
  const two = wire();
  const writer = createCache<string>({ name: 'words', maxEntries: 10, store: one.store });
  const reader = createCache<string>({ name: 'words', maxEntries: 10, store: two.store });
  for (const key of ['key 0', 'key 2000', 'other']) await reader.get(key, async () => 'old');
  await writer.invalidate(Array.from({ length: 2_001 }, (_, index) => `key ${index}`));
  const messages = one.sent.slice(1);
  expect(messages).toHaveLength(3);
  for (const message of messages) two.deliver(message);
  expect(['key 0', 'key 2000', 'other'].map((key) => reader.peek(key))).toEqual([
    undefined,
    undefined,
    'old',
  ]);
});

test('an unreadable message clears everything', async () => {
  for (const text of ['', 'null', '{"from":"other","keys":[1]}', '{"v":2}']) {
    const { store, deliver } = wire();
    const cache = createCache<string>({ name: 'words', maxEntries: 10, store });
    await cache.get('key', async () => 'old');
    deliver(text);
    expect(cache.peek('key'), text).toBeUndefined();
  }
});

test('a subscription that is down counts before it is reported', async () => {
  const { store, goDeaf } = wire();
  const cache = createCache<string>({ name: 'words', maxEntries: 10, store });
  await cache.get('key', async () => 'old');
  goDeaf();
  expect(cache.peek('key')).toBeUndefined();
  expect(await cache.get('key', async () => 'new')).toBe('new');
});

test('while the subscription is down, nothing is served, cached or joined', async () => {
  const { store, setLive } = wire();
  const cache = createCache<string>({ name: 'words', maxEntries: 10, store });
  await cache.get('key', async () => 'old');
  const before = deferred<string>();
  const early = cache.get('slow', () => before.promise);
  setLive(false);
  expect(cache.peek('key')).toBeUndefined();
  expect(await cache.get('key', async () => 'first')).toBe('first');
  expect(await cache.get('key', async () => 'second')).toBe('second');
  const during = deferred<string>();
  const meanwhile = cache.get('late', () => during.promise);
  setLive(true);
  before.resolve('old');
  during.resolve('old');
  await Promise.all([early, meanwhile]);
  expect(['key', 'slow', 'late'].map((key) => cache.peek(key))).toEqual([undefined, undefined, undefined]);
  expect(await cache.get('key', async () => 'third')).toBe('third');
  expect(cache.peek('key')).toBe('third');
});

test('while it may not serve, every request loads, and nothing is cached or joined; then it serves its entries', async () => {
  let allowed = true;
  const cache = createCache<number>({
    name: 'numbers',
    maxEntries: 10,
    store: createMemoryStore(),
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
  const grouped = (store: EphemeralStore = createMemoryStore(), maxEntries = 10) =>
    createCache<string>({ name: 'words', maxEntries, store, groupOf: (_key, value) => value.slice(0, 1) });

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
    const cache = grouped(createMemoryStore(), 2);
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

  test('that another instance invalidates is removed; a version without groups removes everything', async () => {
    const [one, two] = [wire(), wire()];
    const writer = grouped(one.store);
    const reader = grouped(two.store);
    for (const value of ['a1', 'b1']) await reader.get(value, async () => value);
    await writer.invalidateGroups(['a']);
    const message = one.sent.at(-1) ?? '';
    two.deliver(message);
    expect(['a1', 'b1'].map((key) => reader.peek(key))).toEqual([undefined, 'b1']);
    // Such a version treats a message without keys as unreadable.
    expect(JSON.parse(message)).not.toHaveProperty('keys');
  });
});

test('entries that exceed the weight limit evict the least recently used', async () => {
  const cache = createCache<string>({
    name: 'texts',
    maxEntries: 10,
    weight: { max: 10, of: (text) => text.length },
    store: createMemoryStore(),
  });
  for (const text of ['aaaa', 'bbbb', 'cccc']) await cache.get(text, async () => text);
  expect(['aaaa', 'bbbb', 'cccc'].map((key) => cache.peek(key))).toEqual([undefined, 'bbbb', 'cccc']);
  await cache.get('much', async () => 'more than ten letters');
  expect(cache.peek('much')).toBeUndefined();
  expect(cache.peek('cccc')).toBe('cccc');
});
