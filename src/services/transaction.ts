import { Prisma } from '../db/client.ts';
import { isNotDeletedOwner } from '../db/deleted-owners.ts';
import { isTransactionVictim } from '../db/errors.ts';
import type { Change } from './changes/change.ts';
import { collectInvalidations, type Invalidations } from './changes/invalidations.ts';
import { trackEntries } from './changes/recorded-entries.ts';
import type { ServiceContext } from './context.ts';
import { requireCredential } from './credential.ts';
import { type ChangeRequester, inChangeTurn } from './developer-turns.ts';
import { ServiceError } from './errors.ts';
import { once } from './idempotency.ts';

interface TransactionOptions<Result> {
  /**
   * In milliseconds, for changes of up to millions of rows: of the transaction, and of each statement. By default, Prisma's
   * limit for a transaction is 5 s, and that of a statement is in `src/db/session-settings.ts`.
   */
  readonly timeout?: number;
  /** Who takes the turn in which the transaction runs; omitted for client software, which takes no turn. */
  readonly requester?: ChangeRequester;
  /**
   * What is stored for a request with an Idempotency-Key, if it is not the result. Null if another transaction of the change
   * stores it.
   */
  readonly answer?: ((result: Result) => unknown) | null;
  /** The number of this transaction, from 1, if the change has several and each stores its result. */
  readonly step?: number;
}

type Work<Result> = (transaction: Prisma.TransactionClient, invalidations: Invalidations) => Promise<Result>;

/**
 * Runs a change in one short transaction, again if it is the victim of a deadlock; not again for a request that is repeated
 * with its Idempotency-Key, which gets the same result. When this settles, the change has
 * invalidated this process's caches, and the other instances have received it or have had time to read it; no connection
 * is kept while it waits for them. A change that was rolled back invalidates nothing.
 */
export async function changeInTransaction<Result>(
  ctx: ServiceContext,
  work: Work<Result>,
  options: TransactionOptions<Result> = {},
): Promise<Result> {
  const { changes } = ctx.env;
  const { requester } = options;
  const change = () => untilNoVictim(() => attempt(ctx, work, options));
  return once(ctx, async () => {
    const done = await (requester === undefined ? change() : inChangeTurn(ctx, requester, change));
    if ((await changes.tell(done.changed)) === 'not-told') await changes.waitForOthers();
    return done.result;
  });
}

/** Maximum attempts of a transaction that PostgreSQL aborts in favour of another one. */
const attempts = 4;

/** Locks are taken in one order where possible; if two transactions still wait for each other, one is tried again. */
async function untilNoVictim<Result>(tryOnce: () => Promise<Result>): Promise<Result> {
  for (let left = attempts - 1; ; left--) {
    try {
      return await tryOnce();
    } catch (error) {
      if (left === 0 || !isTransactionVictim(error)) throw error;
    }
  }
}

/**
 * A commit whose acknowledgement is lost may take effect later; followers wait for its entries this long. A commit that
 * waits for a synchronous standby takes effect when the standby is back, however long that takes.
 */
const ambiguousMilliseconds = 5_000;

/** Runs the transaction once. @returns its result and its changes */
async function attempt<Result>(
  ctx: ServiceContext,
  work: Work<Result>,
  { timeout, answer, step }: TransactionOptions<Result>,
): Promise<{ readonly result: Result; readonly changed: readonly Change[] }> {
  const { changes, counts, database, securityLogFeed } = ctx.env;
  const { invalidations, changes: invalidated } = collectInvalidations();
  const entries = securityLogFeed.watermark.open();
  const changed = (): Change[] => [...invalidated, { cache: 'log', keys: entries.topics }];
  let isCommitting = false;
  try {
    const result = await database.prisma.$transaction(
      async (transaction) => {
        trackEntries(transaction, entries);
        if (timeout !== undefined)
          await transaction.$queryRaw`SELECT set_config('statement_timeout', ${String(timeout)}, true)`;
        await ctx.idempotency?.begin(transaction, step);
        const worked = await work(transaction, invalidations);
        if (answer !== null)
          await ctx.idempotency?.keep(transaction, answer === undefined ? worked : answer(worked), step);
        await changes.record(transaction, changed());
        isCommitting = true;
        return worked;
      },
      timeout === undefined ? {} : { timeout },
    );
    entries.settle();
    return { result, changed: changed() };
  } catch (error) {
    const settle = (): void => {
      entries.settle();
      void changes.tell([{ cache: 'log', keys: entries.topics }]);
    };
    // Work that failed is rolled back. A commit that failed is ambiguous: it may have taken effect, so its changes are
    // applied. If it takes effect later, the watch reads its record.
    if (isCommitting && !isTransactionVictim(error)) {
      counts.ambiguousCommits += 1;
      const settleLater = (): void => {
        const then = () => (database.confirmsWrites() ? settle() : settleLater());
        setTimeout(then, ambiguousMilliseconds).unref();
      };
      settleLater();
      await changes.tell(invalidated);
    } else settle();
    throw error;
  }
}

/**
 * Runs a developer's change in a transaction that first locks the account, so that it cannot be deleted, and its password not
 * be changed, before the commit. Then it checks the caller's credential again. It runs in the developer's turn unless `options` name another requester.
 *
 * Everything that locks rows takes them from the owner down (developer, application, end user, license), as deletions
 * cascade: two transactions that locked them in different orders would deadlock.
 * @throws {ServiceError} UNAUTHENTICATED when the account has just been deleted, or the caller's credential ended
 */
export function developerTransaction<Result>(
  ctx: ServiceContext,
  developerId: string,
  work: Work<Result>,
  options: TransactionOptions<Result> = {},
): Promise<Result> {
  return changeInTransaction(
    ctx,
    async (transaction, invalidations) => {
      const locked = await transaction.$queryRaw<unknown[]>`
        SELECT id FROM developers WHERE id = ${developerId}::uuid AND ${notDeleted} FOR KEY SHARE`;
      if (locked.length === 0) throw accountDeleted();
      await requireCredential(ctx, transaction, developerId);
      return work(transaction, invalidations);
    },
    { requester: { developer: developerId }, ...options },
  );
}

const notDeleted = Prisma.raw(isNotDeletedOwner);

/** The error for a caller whose account was deleted after the request had been authenticated. */
export const accountDeleted = () => new ServiceError('UNAUTHENTICATED', 'This account has been deleted.');

/**
 * Locks an application until the transaction ends, so that it cannot be deleted before.
 * @returns false if it does not exist
 */
export async function lockApplication(
  transaction: Prisma.TransactionClient,
  applicationId: string,
): Promise<boolean> {
  const locked = await transaction.$queryRaw<unknown[]>`
    SELECT applications.id FROM applications JOIN developers ON developers.id = applications.developer_id
    WHERE applications.id = ${applicationId}::uuid AND ${notDeleted} FOR KEY SHARE OF applications`;
  return locked.length > 0;
}
