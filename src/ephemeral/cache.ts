import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Invalidation, parseInvalidation, printInvalidation } from './invalidation.ts';
import type { EphemeralStore } from './store.ts';

export interface CacheOptions<Value> {
  /** The same in every instance, different for every cache of one store. */
  readonly name: string;
  /** The least recently used entry beyond this is dropped. */
  readonly maxEntries: number;
  /** Which group an entry belongs to, so that a group can be forgotten without a look at the others. */
  readonly groupOf?: (key: string, value: Value) => string;
  /** For entries of different sizes, how much they may have together. */
  readonly weight?: { readonly max: number; readonly of: (value: Value) => number };
  readonly store: EphemeralStore;
  /** Asked at every use, so it has to be cheap: whether anything remembered may be served now. Always, when left out. */
  readonly mayServe?: () => boolean;
}

/** What a cache was asked for, and what it holds. */
export interface CacheUsage {
  readonly name: string;
  /** Answered from memory. */
  readonly hits: number;
  /** Loaded, or waited for while another's load was under way. */
  readonly misses: number;
  readonly entries: number;
}

/**
 * Answers remembered until a write invalidates them, never by time. `null` is an answer like any other.
 *
 * Cost of a hit: `peek` is one property read and one map look-up, without a promise; `get` adds a
 * promise. A miss costs the load, once for all who ask meanwhile.
 */
export interface Cache<Value> {
  /** How it has been used since it was made. */
  readonly usage: CacheUsage;

  /** The remembered answer, or undefined when there is none to be served. */
  peek(key: string): Value | undefined;

  /** The remembered answer, or what `load` resolves to. A failed load is not remembered. */
  get(key: string, load: () => Promise<Value>): Promise<Value>;

  /**
   * Forgets these keys. To be called after the commit of the write and before its answer.
   * It has taken effect in this process when it returns; loads under way are neither stored nor joined
   * by later callers. The promise resolves when the other instances have been told.
   * @throws {StoreUnavailableError} (as a rejection) when they could not be told now. The write stands, and
   *   they will be told as soon as the store answers again; those cut off from it serve nothing cached meanwhile.
   */
  invalidate(keys: readonly string[]): Promise<void>;

  /** Forgets the entries of these groups, here and in the other instances, as `invalidate` does. */
  invalidateGroups(groups: readonly string[]): Promise<void>;

  /** Forgets these keys in this process, loads under way included. */
  forget(keys: readonly string[]): void;

  /**
   * Forgets the entries of these groups in this process. It costs what the groups hold, and a look at the loads under
   * way: their groups are not known yet, so none is joined any more, and one that ends in such a group is not stored.
   */
  forgetGroups(groups: readonly string[]): void;

  /** Forgets everything in this process, loads under way included. */
  clear(): void;
}

/** More keys than this go in several messages, so that each stays small. */
const mostKeysInMessage = 1000;

/** A load under way, and the groups that were forgotten since it began. */
interface Load<Value> {
  readonly promise: Promise<Value>;
  readonly forgotten: Set<string>;
}

/**
 * Creates a cache, and has the caches of this name in other instances forget everything. With a shared store, while
 * its subscription is down, and while `mayServe` says no, every `get` loads and nothing is kept.
 */
export function createCache<Value extends NonNullable<unknown> | null>(
  options: CacheOptions<Value>,
): Cache<Value> {
  const { maxEntries, weight, store, groupOf, mayServe = () => true } = options;
  const channel = `invalidate:${options.name}`;
  const self = randomUUID();
  /** The keys of each group that has entries. */
  const groups = new Map<string, Set<string>>();
  // Boxed, so that null can be told from nothing.
  const entries = new LRUCache<string, { readonly value: Value }>({
    max: maxEntries,
    ...(weight && { maxSize: weight.max, sizeCalculation: ({ value }) => weight.of(value) }),
    ...(groupOf && { dispose: ({ value }, key) => leaveGroup(groupOf(key, value), key) }),
  });
  // Only a load still listed here when it ends may be stored: forgetting a key strikes its load off.
  const loads = new Map<string, Load<Value>>();
  let hits = 0;
  let misses = 0;
  const subscription = store.subscribe(channel, {
    message: (text) => receive(parseInvalidation(text)),
    interrupted: clear,
  });

  // An instance that was cut off, or was killed between a commit and its message, may have ended before it could tell
  // the others: whoever starts next tells for it. What cannot be told now is made up for by the store.
  if (store.shared) {
    const everything = printInvalidation({ from: self, keys: 'all' });
    store.publish(channel, everything, everything).catch(() => undefined);
  }

  function clear(): void {
    entries.clear();
    loads.clear();
  }

  function forget(keys: readonly string[]): void {
    for (const key of keys) {
      entries.delete(key);
      loads.delete(key);
    }
  }

  function forgetGroups(names: readonly string[]): void {
    for (const name of names) for (const key of groups.get(name) ?? []) entries.delete(key);
    for (const { forgotten } of loads.values()) for (const name of names) forgotten.add(name);
  }

  function keep(key: string, value: Value): void {
    entries.set(key, { value });
    // An entry that weighs more than all may have together is not kept.
    if (groupOf === undefined || !entries.has(key)) return;
    const name = groupOf(key, value);
    const keys = groups.get(name);
    if (keys === undefined) groups.set(name, new Set([key]));
    else keys.add(key);
  }

  function leaveGroup(name: string, key: string): void {
    const keys = groups.get(name);
    keys?.delete(key);
    if (keys?.size === 0) groups.delete(name);
  }

  function receive(invalidation: Invalidation | null): void {
    if (invalidation?.from === self) return;
    if (invalidation === null) clear();
    else if ('groups' in invalidation) forgetGroups(invalidation.groups);
    else if (invalidation.keys === 'all') clear();
    else forget(invalidation.keys);
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

  /** Tells the other instances. What cannot be told now is made up for by "everything" once the store answers again. */
  async function publish(messages: readonly Invalidation[]): Promise<void> {
    if (!store.shared) return;
    const everything = printInvalidation({ from: self, keys: 'all' });
    await Promise.all(
      messages.map((message) => store.publish(channel, printInvalidation(message), everything)),
    );
  }

  return {
    get usage() {
      return { name: options.name, hits, misses, entries: entries.size };
    },

    peek(key) {
      return subscription.live && mayServe() ? entries.get(key)?.value : undefined;
    },

    get(key, load) {
      // An answer from before the interruption may be outdated, and so may a load under way: join none.
      if (!subscription.live || !mayServe()) {
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

    invalidate(keys) {
      forget(keys);
      return publish(slices(keys).map((slice) => ({ from: self, keys: slice })));
    },

    invalidateGroups(names) {
      forgetGroups(names);
      return publish(names.length === 0 ? [] : [{ from: self, groups: names }]);
    },

    forget,
    forgetGroups,
    clear,
  };
}

function slices(keys: readonly string[]): (readonly string[])[] {
  const count = Math.ceil(keys.length / mostKeysInMessage);
  return Array.from({ length: count }, (_, index) =>
    keys.slice(index * mostKeysInMessage, (index + 1) * mostKeysInMessage),
  );
}

/** A loader that throws before its first await rejects like one that throws after. */
async function attempt<Value>(load: () => Promise<Value>): Promise<Value> {
  return load();
}
