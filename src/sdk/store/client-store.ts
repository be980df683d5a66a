/**
 * Where a client keeps texts between runs of the program. The texts are not secret, but whoever changes them can make a
 * program on this machine forget what it knew. Names have the characters of `a-z 0-9 . - /`; the first part of a name is the application's id.
 */
export interface ClientStore {
  /** Returns the text that was last written under this name; null if there is none. */
  read(name: string): Promise<string | null>;
  /** Replaces the text of this name. A program that ends meanwhile must leave the previous text or the new one. */
  write(name: string, text: string): Promise<void>;
}

/** Keeps nothing. */
export const emptyStore: ClientStore = {
  read: async () => null,
  write: async () => {},
};
