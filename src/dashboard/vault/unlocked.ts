import { useSyncExternalStore } from 'react';

/** The key of the open vault. It lives as long as the page, and is never stored. */
let key: CryptoKey | null = null;
const readers = new Set<() => void>();

export function setVaultKey(next: CryptoKey | null): void {
  key = next;
  for (const read of readers) read();
}

const subscribe = (read: () => void) => {
  readers.add(read);
  return () => readers.delete(read);
};

/** The key with which notes are sealed and opened; null while the vault is locked. */
export const useVaultKey = (): CryptoKey | null => useSyncExternalStore(subscribe, () => key);
