import { LRUCache } from 'lru-cache';

export interface CacheOptions<Value> {
  /** For metrics. */
  readonly name: string;
  /** Beyond this, the least recently used entry is evicted. */
  readonly maxEntries: number;
  /** The group of an entry, so that a group can be removed without a scan of all entries. */
  readonly groupOf?: (key: string, value: Value) => string;
  /** For entries of different sizes: the weight of each, and the maximum weight of all. */
  readonly weight?: { readonly max: number; readonly of: (value: Value) => number };
  /** Whether cached values may be served now. Called at every use, so it must be cheap. Default: always. */
  readonly mayServe?: () => boolean;
}

/** How a cache was used since it was created, and its size. */
export interface CacheUsage {
  readonly name: string;
  /** Requests answered from memory. */
  readonly hits: number;
  /** Requests that loaded the value or waited for a running load. */
  readonly misses: number;
  readonly entries: number;
}

/**
 * Values in the memory of this process until they are removed; they do not expire. `null` is a value like any other.
 * A hit costs a map look-up; `get` adds a promise. A miss costs one load for all concurrent callers.
 */
export interface Cache<Value> {
  readonly usage: CacheUsage;

  /** The cached value, or undefined if the key is not cached or cached values must not be served now. */
  peek(key: string): Value | undefined;

  /** The cached value, or the result of `load`. A failed load is not cached. */
  get(key: string, load: () => Promise<Value>): Promise<Value>;

  /**
   * Removes these keys. Call it after the commit of a write and before its response. Running loads are neither stored nor
   * joined by later callers, because they may have read the state before the commit.
   */
  forget(keys: readonly string[]): void;

  /**
   * Removes the entries of these groups, without a scan of other entries. The groups of running loads are not known yet, so
   * later callers join none of them, and those that end in one of these groups are not stored.
   */
  forgetGroups(groups: readonly string[]): void;

  /** Removes everything, including running loads. */
  clear(): void;
}

interface Load<Value> {
  readonly promise: Promise<Value>;
  /** The groups that were removed since the load began. */
  readonly forgotten: Set<string>;
}

/** Creates a cache. While `mayServe` returns false, every `get` loads, and nothing is stored. */
export function createCache<Value extends NonNullable<unknown> | null>(
  options: CacheOptions<Value>,
): Cache<Value> {
  const { name, maxEntries, weight, groupOf, mayServe = () => true } = options;
  /** The keys of each group that has entries. */
  const groups = new Map<string, Set<string>>();
  // Boxed, to distinguish null from a missing entry.
  const entries = new LRUCache<string, { readonly value: Value; readonly group: string | undefined }>({
    max: maxEntries,
    ...(weight && { maxSize: weight.max, sizeCalculation: ({ value }) => weight.of(value) }),
    onInsert: ({ group }, key) => {
      if (group !== undefined) groups.set(group, (groups.get(group) ?? new Set()).add(key));
    },
    dispose: ({ group = '' }, key) => {
      groups.get(group)?.delete(key);
      if (groups.get(group)?.size === 0) groups.delete(group);
    },
  });
  /** Running loads that may be stored: removing a key removes its load. */
  const loads = new Map<string, Load<Value>>();
  let hits = 0;
  let misses = 0;

  async function storeWhenLoaded(key: string, load: Load<Value>): Promise<void> {
    let value: Value;
    try {
      value = await load.promise;
    } catch {
      // The callers receive the error.
      if (loads.get(key) === load) loads.delete(key);
      return;
    }
    if (loads.get(key) !== load) return;
    loads.delete(key);
    const group = groupOf?.(key, value);
    if (group === undefined || !load.forgotten.has(group)) entries.set(key, { value, group });
  }

  return {
    get usage() {
      return { name, hits, misses, entries: entries.size };
    },

    peek: (key) => (mayServe() ? entries.get(key)?.value : undefined),

    get(key, load) {
      const isServing = mayServe();
      const entry = isServing ? entries.get(key) : undefined;
      if (entry !== undefined) {
        hits += 1;
        return Promise.resolve(entry.value);
      }
      misses += 1;
      // Running loads may be outdated too.
      if (!isServing) return attempt(load);
      const running = loads.get(key);
      if (running?.forgotten.size === 0) return running.promise;
      const started = { promise: attempt(load), forgotten: new Set<string>() };
      loads.set(key, started);
      void storeWhenLoaded(key, started);
      return started.promise;
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
const attempt = async <Value>(load: () => Promise<Value>): Promise<Value> => load();
