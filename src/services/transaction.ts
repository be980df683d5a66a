import type { Prisma } from '../db/client.ts';
import { isTransactionVictim } from '../db/errors.ts';
import type { BanType } from './ban/is-banned.ts';
import { type CacheChange, noteChanges } from './coherence/cache-change.ts';
import type { ServiceContext, ServiceEnvironment } from './context.ts';
import { invalidateAfterDoubt } from './doubtful-commit.ts';
import { ServiceError } from './errors.ts';
import { licenseCacheKey } from './license/snapshot.ts';
import { settleEntries } from './security-log/open-transactions.ts';

/** Prisma's own limit for a short transaction is 5 s; what may rewrite millions of rows says so. */
interface TransactionOptions {
  readonly timeout?: number;
}

/** Notes what a transaction changes of that which the hot path has cached, or which open streams depend on. */
export interface Touched {
  application(id: string): void;
  /** Cookies or API keys of the developer end: what was opened with them is looked at again. */
  credentials(developerId: string): void;
  license(keyHash: Uint8Array): void;
  allLicenses(): void;
  ban(applicationId: string, banType: BanType, value: string): void;
}

type Work<Result> = (transaction: Prisma.TransactionClient, touched: Touched) => Promise<Result>;

/**
 * Runs a change in one short transaction, again if it is the victim of a deadlock, and invalidates what it touched
 * before this settles, however it ends: a commit whose acknowledgement is lost has changed the database all the same,
 * and perhaps only in a moment.
 */
export async function changeInTransaction<Result>(
  ctx: ServiceContext,
  work: Work<Result>,
  options: TransactionOptions = {},
): Promise<Result> {
  const { database, securityLogFeed, store } = ctx.env;
  const { touched, isEmpty, changes, invalidate } = trackTouched(ctx.env);
  let isCommitting = false;
  const noted = async (transaction: Prisma.TransactionClient): Promise<Result> => {
    isCommitting = false;
    const result = await work(transaction, touched);
    // Other instances read them, and an embedded database has none.
    if (store.shared && database.kind === 'server') await noteChanges(transaction, changes());
    isCommitting = true;
    return result;
  };
  try {
    return await untilNoVictim(() =>
      settleEntries(securityLogFeed, (track) =>
        database.prisma.$transaction((transaction) => track(transaction, () => noted(transaction)), options),
      ),
    );
  } catch (error) {
    // Work that failed is rolled back. What failed after it was the commit, and a server may yet carry it out.
    if (isCommitting) ctx.env.counts.doubtfulCommits += 1;
    if (isCommitting && !isEmpty()) invalidateAfterDoubt(database.pool, invalidate).catch(noteFailure(ctx));
    throw error;
  } finally {
    await invalidate();
  }
}

const noteFailure = (ctx: ServiceContext) => (error: unknown) =>
  ctx.env.log.error({ err: error }, 'What a doubtful commit has touched could not be invalidated again');

/** So often a transaction is tried that PostgreSQL ends in favour of another. */
const attempts = 4;

/** Locks are taken in one order wherever that can be; where two still waited for each other, one goes again. */
async function untilNoVictim<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let left = attempts - 1; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (left === 0 || !isTransactionVictim(error)) throw error;
    }
  }
}

interface Tracked {
  readonly touched: Touched;
  isEmpty(): boolean;
  /** The same, for instances that its message does not reach. */
  changes(): readonly CacheChange[];
  invalidate(): Promise<void>;
}

function trackTouched({ caches, securityLogFeed: { news } }: ServiceEnvironment): Tracked {
  const licenses: Uint8Array[] = [];
  const others: (() => Promise<void>)[] = [];
  const changes: CacheChange[] = [];
  return {
    touched: {
      application: (id) => {
        changes.push({ cache: 'application', keys: [id] });
        others.push(() => {
          news.tell([id]);
          return caches.invalidateApplication(id);
        });
      },
      credentials: (developerId) => others.push(async () => news.doubt(developerId)),
      license: (keyHash) => licenses.push(keyHash),
      allLicenses: () => {
        changes.push({ cache: 'license', keys: 'all' });
        others.push(() => caches.invalidateAllLicenses());
      },
      ban: (applicationId, banType, value) => {
        changes.push({ cache: 'ban', keys: [applicationId] });
        others.push(() => caches.invalidateBan(applicationId, banType, value));
      },
    },
    isEmpty: () => licenses.length + others.length === 0,
    changes: () =>
      licenses.length === 0
        ? changes
        : [...changes, { cache: 'license', keys: licenses.map(licenseCacheKey) }],
    invalidate: async () => {
      if (licenses.length > 0) await caches.invalidateLicenses(licenses);
      for (const other of others) await other();
    },
  };
}

/**
 * Runs a developer's change in a transaction that holds the account first, so that it cannot be deleted meanwhile.
 *
 * Everything that locks rows takes them from the owner down (developer, application, end user, license), as deletions
 * cascade: two that took them in different orders would wait for each other.
 * @throws {ServiceError} UNAUTHENTICATED when the account has just been deleted
 */
export function developerTransaction<Result>(
  ctx: ServiceContext,
  developerId: string,
  work: Work<Result>,
  options: TransactionOptions = {},
): Promise<Result> {
  return changeInTransaction(
    ctx,
    async (transaction, touched) => {
      const held = await transaction.$queryRaw<unknown[]>`
        SELECT id FROM developers WHERE id = ${developerId}::uuid FOR KEY SHARE`;
      if (held.length === 0) throw accountDeleted();
      return work(transaction, touched);
    },
    options,
  );
}

/** Whoever asks was a developer a moment ago. */
export const accountDeleted = () => new ServiceError('UNAUTHENTICATED', 'This account has been deleted.');

/**
 * Holds an application until the transaction ends, so that it cannot be deleted meanwhile.
 * @returns false when it is gone
 */
export async function holdApplication(
  transaction: Prisma.TransactionClient,
  applicationId: string,
): Promise<boolean> {
  const held = await transaction.$queryRaw<unknown[]>`
    SELECT id FROM applications WHERE id = ${applicationId}::uuid FOR KEY SHARE`;
  return held.length > 0;
}
