import type { Prisma } from '../../db/client.ts';

/** What a transaction writes that open streams deliver. */
export interface RecordedEntries {
  /** Notes an entry of the security log as soon as its id is assigned. Followers wait for it until the transaction has ended. */
  note(applicationId: string, id: string): void;
  /** Notes that there are new events of a developer. */
  noteEvents(developerId: string): void;
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

/** Notes that a transaction writes events. A command, which tracks none, wakes nobody: readers find them a little later. */
export function noteEvents(transaction: Prisma.TransactionClient, developerId: string): void {
  open.get(transaction)?.noteEvents(developerId);
}
