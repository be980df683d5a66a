import { Prisma } from '../db/client.ts';
import { isNotDeletedOwner } from '../db/deleted-owners.ts';
import { isTransactionVictim } from '../db/errors.ts';
import type { BanType } from './ban/is-banned.ts';
import type { Told } from './caches.ts';
import { type CacheChange, noteChanges } from './coherence/cache-change.ts';
import type { ServiceContext, ServiceEnvironment } from './context.ts';
import { type ChangeTaker, inChangeTurn } from './developer-turns.ts';
import { invalidateAfterDoubt } from './doubtful-commit.ts';
import { ServiceError } from './errors.ts';
import { licenseCacheKey } from './license/snapshot.ts';
import { applicationsOfEntries, settleEntries } from './security-log/open-transactions.ts';

/**
 * Prisma's own limit for a short transaction is 5 s, and that of a statement less (src/db/server.ts); what may rewrite
 * millions of rows says so, and its statements may take as long.
 */
interface TransactionOptions {
  /** In milliseconds. */
  readonly timeout?: number;
  /** Who takes the turn in which the transaction runs; omitted for client software, which takes no turn. */
  readonly taker?: ChangeTaker;
}

/** Notes what a transaction changes of that which the hot path has cached, or which open streams depend on. */
export interface Invalidations {
  application(id: string): void;
  /** Cookies or API keys of the developer end: what was opened with them is looked at again. */
  credentials(developerId: string): void;
  license(keyHash: Uint8Array): void;
  /** Any of an application's licenses may have changed; none was added. */
  licensesOf(applicationId: string): void;
  /** A client may have asked for one of these keys before it was minted, and the "no" be remembered. */
  minted(applicationId: string, keyHashes: readonly Uint8Array[]): void;
  ban(applicationId: string, banType: BanType, value: string): void;
}

type Work<Result> = (transaction: Prisma.TransactionClient, invalidations: Invalidations) => Promise<Result>;

/**
 * Runs a change in one short transaction, again if it is the victim of a deadlock, and invalidates what it invalidations
 * before this settles. A commit whose acknowledgement is lost may have changed the database all the same, and perhaps
 * only in a moment. A change that was rolled back invalidates nothing.
 *
 * On a database server the change is also recorded for the other instances. If they cannot be told of it over Redis,
 * this waits until they have had time to read it, without holding a connection.
 */
export async function changeInTransaction<Result>(
  ctx: ServiceContext,
  work: Work<Result>,
  { taker, ...options }: TransactionOptions = {},
): Promise<Result> {
  const { database, databaseWatch, securityLogFeed, store } = ctx.env;
  const { invalidations, isEmpty, changes, invalidate } = trackInvalidations(ctx.env);
  let isCommitting = false;
  const noted = async (transaction: Prisma.TransactionClient): Promise<Result> => {
    isCommitting = false;
    const { timeout } = options;
    if (timeout !== undefined)
      await transaction.$queryRaw`SELECT set_config('statement_timeout', ${String(timeout)}, true)`;
    const result = await work(transaction, invalidations);
    // Other instances read them there; an embedded database has only one.
    if (database.kind === 'server') {
      // With Redis, news of the log has its own way, and a slow look behind it.
      const log = store.shared ? [] : applicationsOfEntries(transaction);
      await noteChanges(transaction, [...changes(), { cache: 'log', keys: log }]);
    }
    isCommitting = true;
    return result;
  };
  let result: Result;
  try {
    const change = (): Promise<Result> =>
      untilNoVictim(() =>
        settleEntries(securityLogFeed, (track) =>
          database.prisma.$transaction(
            (transaction) => track(transaction, () => noted(transaction)),
            options,
          ),
        ),
      );
    result = await (taker === undefined ? change() : inChangeTurn(ctx, taker, change));
  } catch (error) {
    // Work that failed is rolled back. What failed after it was the commit, and a server may yet carry it out.
    if (!isCommitting) throw error;
    ctx.env.counts.doubtfulCommits += 1;
    if (!isEmpty()) invalidateAfterDoubt(database.pool, invalidate).catch(noteFailure(ctx));
    await invalidate();
    throw error;
  }
  if ((await invalidate()) === 'not-told') await databaseWatch.othersHaveLooked();
  return result;
}

const noteFailure = (ctx: ServiceContext) => (error: unknown) =>
  ctx.env.log.error(
    { err: error },
    'What a doubtful commit has invalidations could not be invalidated again',
  );

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
  readonly invalidations: Invalidations;
  isEmpty(): boolean;
  /** The same, for instances that its message does not reach. */
  changes(): readonly CacheChange[];
  invalidate(): Promise<Told>;
}

/** With more keys, a mint names its application alone: a message and a row stay small. */
const mostMintedKeys = 1_000;

function trackInvalidations({ caches, securityLogFeed: { news } }: ServiceEnvironment): Tracked {
  const licenses: Uint8Array[] = [];
  const applications: string[] = [];
  const others: (() => Promise<Told>)[] = [];
  const changes: CacheChange[] = [];
  const invalidations: Invalidations = {
    application: (id) => applications.push(id),
    credentials: (developerId) => {
      changes.push({ cache: 'credentials', keys: [developerId] });
      others.push(async () => {
        news.doubt(developerId);
        return 'told';
      });
    },
    license: (keyHash) => licenses.push(keyHash),
    licensesOf: (applicationId) => {
      changes.push({ cache: 'license-of', keys: [applicationId] });
      others.push(() => caches.invalidateLicensesOf(applicationId));
    },
    minted: (applicationId, keyHashes) => {
      if (keyHashes.length <= mostMintedKeys) return void licenses.push(...keyHashes);
      changes.push({ cache: 'license-minted', keys: [applicationId] });
      others.push(() => caches.invalidateUnknownLicenses());
    },
    ban: (applicationId, banType, value) => {
      changes.push({ cache: 'ban', keys: [applicationId] });
      others.push(() => caches.invalidateBan(applicationId, banType, value));
    },
  };
  return {
    invalidations,
    isEmpty: () => licenses.length + applications.length + others.length === 0,
    changes: () => [
      ...changes,
      { cache: 'application', keys: applications },
      { cache: 'license', keys: licenses.map(licenseCacheKey) },
    ],
    invalidate: async () => {
      news.tell(applications);
      // All of it takes effect here at once, and the messages leave together.
      const told = await Promise.all([
        caches.invalidateApplications(applications),
        caches.invalidateLicenses(licenses),
        ...others.map((invalidateOther) => invalidateOther()),
      ]);
      return told.includes('not-told') ? 'not-told' : 'told';
    },
  };
}

/**
 * Runs a developer's change in a transaction that first locks the account, so that it cannot be deleted meanwhile. It runs
 * in the developer's turn unless `options` name another taker.
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
    async (transaction, invalidations) => {
      const held = await transaction.$queryRaw<unknown[]>`
        SELECT id FROM developers WHERE id = ${developerId}::uuid AND ${notDeleted} FOR KEY SHARE`;
      if (held.length === 0) throw accountDeleted();
      return work(transaction, invalidations);
    },
    { taker: { developer: developerId }, ...options },
  );
}

const notDeleted = Prisma.raw(isNotDeletedOwner);

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
    SELECT applications.id FROM applications JOIN developers ON developers.id = applications.developer_id
    WHERE applications.id = ${applicationId}::uuid AND ${notDeleted} FOR KEY SHARE OF applications`;
  return held.length > 0;
}
