import type { LockTicket } from './held-lock.ts';

/** What the database's thread is started with. */
export type Task =
  /** Serve the database of a directory, durably, as long as this process has the directory's lock. */
  | { readonly kind: 'serve'; readonly directory: string; readonly socket: string; readonly lock: LockTicket }
  /** Serve a database that is kept in memory only, from a prepared archive when there is one. */
  | { readonly kind: 'serve-memory'; readonly archive: string | null; readonly socket: string }
  /** Make an empty database in a directory, then end. */
  | { readonly kind: 'create'; readonly directory: string };

export type Request = 'close' | 'count-syncs';

export type Reply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'syncs'; readonly count: number }
  /** `byEngine`: PostgreSQL did not open the files. */
  | { readonly kind: 'failed'; readonly message: string; readonly byEngine: boolean };
