import type { Prisma } from '../../db/client.ts';
import { isTransactionVictim } from '../../db/errors.ts';
import type { SecurityLogFeed } from './feed.ts';
import type { OpenTransaction } from './watermark.ts';

/** A commit whose acknowledgement is lost may take effect a moment later; its entries count as unsettled for so long. */
const doubtfulMilliseconds = 5_000;

const open = new WeakMap<Prisma.TransactionClient, OpenTransaction>();

/** Notes an entry that a transaction is about to write. */
export function noteRecorded(transaction: Prisma.TransactionClient, applicationId: string, id: string): void {
  const entries = open.get(transaction);
  if (entries === undefined)
    throw new TypeError('Record entries about an application in changeInTransaction');
  entries.note(applicationId, id);
}

/** The applications that a transaction has recorded entries about until now. */
export const applicationsOfEntries = (transaction: Prisma.TransactionClient): readonly string[] => [
  ...(open.get(transaction)?.applications ?? []),
];

/**
 * Runs one attempt of a transaction, and settles the entries that it recorded when it has ended, however it ends.
 * @param run starts the transaction and, inside it, the work that it is given
 */
export async function settleEntries<Result>(
  feed: SecurityLogFeed,
  run: (track: Track<Result>) => Promise<Result>,
): Promise<Result> {
  const entries = feed.watermark.open();
  let worked = false;
  const settle = () => feed.news.tell(entries.settle());
  try {
    const result = await run(async (transaction, work) => {
      open.set(transaction, entries);
      const result = await work();
      worked = true;
      return result;
    });
    settle();
    return result;
  } catch (error) {
    // Work that failed is rolled back. What failed after it was the commit.
    if (worked && !isTransactionVictim(error)) setTimeout(settle, doubtfulMilliseconds).unref();
    else settle();
    throw error;
  }
}

/** Runs work inside a transaction, so that the entries which it records are known. */
export type Track<Result> = (
  transaction: Prisma.TransactionClient,
  work: () => Promise<Result>,
) => Promise<Result>;
