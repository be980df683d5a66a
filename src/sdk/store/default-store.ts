import { type ClientStore, emptyStore } from './client-store.ts';
import { createFileStore } from './file-store.ts';
import { findStateFolder } from './state-folder.ts';

/** Keeps texts in the browser, for all pages of an origin. Throws where there is no `localStorage`. */
const browserStore: ClientStore = {
  read: async (name) => globalThis.localStorage.getItem(`latchkey/${name}`),
  write: async (name, text) => globalThis.localStorage.setItem(`latchkey/${name}`, text),
};

/** The store of a program that names none: files in Node.js, if the user has a home, and `localStorage` elsewhere. */
export function createDefaultStore(): ClientStore {
  const found = findStateFolder();
  if (found === 'homeless') return emptyStore;
  return found === null ? browserStore : createFileStore(found);
}
