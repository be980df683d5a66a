import { LRUCache } from 'lru-cache';

export interface CacheOptions<Value> {
  /** For metrics. */
  readonly name: string;
  /** Beyond this, the least recently used entry is dropped. */
  readonly maxEntries: number;
  /** The group of an entry, so that a group can be forgotten without a look at the others. */
  readonly groupOf?: (key: string, value: Value) => string;
  /** For entries of different sizes: the size of each, and the most that all may have together. */
  readonly weight?: { readonly max: number; readonly of: (value: Value) => number };
  /** Whether cached values may be served now. Called at every use, so it must be cheap. Always true by default. */
  readonly mayServe?: () => boolean;
}

/** How a cache has been used, and what it holds. */
export interface CacheUsage {
  readonly name: string;
  /** Answered from memory. */
  readonly hits: number;
  /** Loaded, or waited for a load that was under way. */
  readonly misses: number;
  readonly entries: number;
}

/**
 * Values in the memory of this process, until they are forgotten; they never expire. `null` is a value like any other.
 *
 * A hit costs a map look-up; `get` adds a promise. A miss costs one load for all callers that ask meanwhile.
 */
export interface Cache<Value> {
  /** Since it was created. */
  readonly usage: CacheUsage;

  /** The cached value; undefined if the key is not cached or cached values may not be served. */
  peek(key: string): Value | undefined;

  /** The cached value, or what `load` resolves to. A failed load is not cached. */
  get(key: string, load: () => Promise<Value>): Promise<Value>;

  /**
   * Forgets these keys. Call it after the commit of a write and before its answer. Loads under way are neither stored nor
   * joined by later callers: they may have read what was there before the commit.
   */
  forget(keys: readonly string[]): void;

  /**
   * Forgets the entries of these groups. It costs what the groups hold, and a look at the loads under way: their groups
   * are not known yet, so none is joined any more, and one that ends in such a group is not stored.
   */
  forgetGroups(groups: readonly string[]): void;

  /** Forgets everything, loads under way included. */
  clear(): void;
}

/** A load under way, and the groups that were forgotten since it began. */
interface Load<Value> {
  readonly promise: Promise<Value>;
  readonly forgotten: Set<string>;
}

/** Creates a cache. While `mayServe` says no, every `get` loads, and nothing is stored. */
export function createCache<Value extends NonNullable<unknown> | null>(
  options: CacheOptions<Value>,
): Cache<Value> {
  const { name, maxEntries, weight, groupOf, mayServe = () => true } = options;
  /** The keys of each group that has entries. */
  const groups = new Map<string, Set<string>>();
  // Boxed, to tell null from a missing entry.
  const entries = new LRUCache<string, { readonly value: Value }>({
    max: maxEntries,
    ...(weight && { maxSize: weight.max, sizeCalculation: ({ value }) => weight.of(value) }),
    ...(groupOf && { dispose: ({ value }, key) => leaveGroup(groupOf(key, value), key) }),
  });
  // Only a load that is still listed here when it ends may be stored: forgetting a key removes its load.
  const loads = new Map<string, Load<Value>>();
  let hits = 0;
  let misses = 0;

  function keep(key: string, value: Value): void {
    entries.set(key, { value });
    // An entry that weighs more than all may have together is not kept.
    if (groupOf === undefined || !entries.has(key)) return;
    const group = groupOf(key, value);
    const keys = groups.get(group);
    if (keys === undefined) groups.set(group, new Set([key]));
    else keys.add(key);
  }

  function leaveGroup(group: string, key: string): void {
    const keys = groups.get(group);
    keys?.delete(key);
    if (keys?.size === 0) groups.delete(group);
  }

  function start(key: string, load: () => Promise<Value>): Promise<Value> {
    const loading: Load<Value> = { promise: attempt(load), forgotten: new Set() };
    loads.set(key, loading);
    loading.promise.then(
      (value) => {
        if (loads.get(key) !== loading) return;
        loads.delete(key);
        if (groupOf === undefined || !loading.forgotten.has(groupOf(key, value))) keep(key, value);
      },
      () => {
        if (loads.get(key) === loading) loads.delete(key);
      },
    );
    return loading.promise;
  }

  return {
    get usage() {
      return { name, hits, misses, entries: entries.size };
    },

    peek(key) {
      return mayServe() ? entries.get(key)?.value : undefined;
    },

    get(key, load) {
      // What is cached may be outdated, and so may a load under way: it is not joined.
      if (!mayServe()) {
        misses += 1;
        return attempt(load);
      }
      const entry = entries.get(key);
      if (entry !== undefined) {
        hits += 1;
        return Promise.resolve(entry.value);
      }
      misses += 1;
      const loading = loads.get(key);
      return loading?.forgotten.size === 0 ? loading.promise : start(key, load);
    },

    forget(keys) {
      for (const key of keys) {
        entries.delete(key);
        loads.delete(key);
      }
    },

    forgetGroups(names) {
      for (const group of names) for (const key of groups.get(group) ?? []) entries.delete(key);
      for (const { forgotten } of loads.values()) for (const group of names) forgotten.add(group);
    },

    clear() {
      entries.clear();
      loads.clear();
    },
  };
}

/** Turns a loader's synchronous throw into a rejection. */
async function attempt<Value>(load: () => Promise<Value>): Promise<Value> {
  return load();
}
