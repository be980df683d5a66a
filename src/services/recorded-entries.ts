import type { Prisma } from '../db/client.ts';

/** The security log entries that a transaction writes. Followers wait for them until it has ended. */
export interface RecordedEntries {
  /** Notes an entry as soon as its id is assigned. */
  note(applicationId: string, id: string): void;
}

const open = new WeakMap<Prisma.TransactionClient, RecordedEntries>();

/** Called when the transaction begins. */
export function trackEntries(transaction: Prisma.TransactionClient, entries: RecordedEntries): void {
  open.set(transaction, entries);
}

/** Notes an entry that a transaction is about to write. */
export function noteEntry(transaction: Prisma.TransactionClient, applicationId: string, id: string): void {
  const entries = open.get(transaction);
  if (entries === undefined)
    throw new TypeError('Record entries about an application in changeInTransaction');
  entries.note(applicationId, id);
}
