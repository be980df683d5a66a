import type { ClientStore } from '../../../src/sdk/index.ts';

/** A store that tests can look into. */
export function storeInMemory(): ClientStore & { readonly texts: Map<string, string> } {
  const texts = new Map<string, string>();
  return {
    texts,
    read: async (name) => texts.get(name) ?? null,
    write: async (name, text) => {
      texts.set(name, text);
    },
  };
}
