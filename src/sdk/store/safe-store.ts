import { type ClientStore, maxTextLength } from './client-store.ts';

/** A store that never rejects, and answers in time. */
export interface SafeStore {
  read(name: string): Promise<string | null>;
  /** @returns whether the text has reached the store */
  write(name: string, text: string): Promise<boolean>;
}

/**
 * Makes a store that never rejects and answers in time, whatever the given one does. It remembers what it has written, and
 * returns that where the given store has lost it, or has not replaced an earlier text.
 * @param patienceMs milliseconds that a read or a write may take
 */
export function createSafeStore(store: ClientStore, patienceMs: number): SafeStore {
  const written = new Map<string, string>();
  /** Names whose last text may not have reached the store. */
  const unsaved = new Set<string>();
  /** Operations that have taken too long and are still running. While there is one, no other is started. */
  let hanging = 0;
  let lastWrite: Promise<unknown> = Promise.resolve();

  /** Whether the operation succeeded in time. */
  async function patiently(operation: () => Promise<void>): Promise<boolean> {
    if (hanging > 0) return false;
    // Called in a promise, because the store of a JavaScript program may throw instead of rejecting.
    const done = Promise.resolve()
      .then(operation)
      .then(
        () => true,
        () => false,
      );
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), patienceMs);
    });
    const outcome = await Promise.race([done, late]);
    clearTimeout(timer);
    if (outcome !== 'late') return outcome;
    hanging++;
    done.then(() => hanging--);
    return false;
  }

  return {
    async read(name) {
      let found: unknown = null;
      if (!unsaved.has(name)) {
        await patiently(async () => {
          found = await store.read(name);
        });
      }
      if (typeof found === 'string' && found.length <= maxTextLength) return found;
      return written.get(name) ?? null;
    },
    async write(name, text) {
      written.set(name, text);
      unsaved.add(name);
      // One after another: of two writes at once, the store could keep the earlier text.
      const write = lastWrite.then(async () => {
        const saved = await patiently(() => store.write(name, text));
        if (saved && written.get(name) === text) unsaved.delete(name);
        return saved;
      });
      lastWrite = write;
      return write;
    },
  };
}
