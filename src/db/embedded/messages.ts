import type { LockTicket } from './held-lock.ts';

/** The task of a database thread. */
export type Task =
  /** Serve the database in a directory while this process holds the directory's lock. */
  | { readonly kind: 'serve'; readonly directory: string; readonly socket: string; readonly lock: LockTicket }
  /** Serve a database in memory, from a prepared archive if there is one. */
  | { readonly kind: 'serve-memory'; readonly archive: string | null; readonly socket: string }
  /** Create an empty database in a directory, then end. */
  | { readonly kind: 'create'; readonly directory: string };

export type Request = 'close' | 'count-syncs';

export type Reply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'syncs'; readonly count: number }
  /** `byEngine`: PostgreSQL did not open the files. */
  | { readonly kind: 'failed'; readonly message: string; readonly byEngine: boolean };
