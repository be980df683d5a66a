/**
 * Where a client keeps texts between runs of the program, of at most 1 MiB. They are not secret. Names consist of
 * `a-z 0-9 - /`, and begin with the application's id and a slash.
 */
export interface ClientStore {
  /** Returns the last text written under this name; null if nothing was written. */
  read(name: string): Promise<string | null>;
  /** Replaces the text of this name. A program that ends meanwhile must leave the previous text or the new one. */
  write(name: string, text: string): Promise<void>;
}

/** Longer texts are not ours. A revocation list is the longest: at most 1 MiB. */
export const maxTextLength = 1_048_576;

/** Keeps nothing, and says so. */
export const emptyStore: ClientStore = {
  read: async () => null,
  write: () => Promise.reject(new Error('This store keeps nothing')),
};
