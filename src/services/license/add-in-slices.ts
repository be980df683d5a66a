import type { Prisma } from '../../db/client.ts';
import { discardMintUnderWay } from '../../db/mint-under-way.ts';
import { NoPlaceError } from '../../lib/fair-turns.ts';
import { networkOf } from '../../lib/ip.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { ServiceContext } from '../context.ts';
import { applicationNotFound, ServiceError } from '../errors.ts';
import { workAbandoned } from '../request-work.ts';
import { developerTransaction, holdApplication } from '../transaction.ts';
import type { Addition } from './addition.ts';
import { insertLicenses, type NewLicense } from './insert.ts';

/**
 * What one slice holds at most, so that others wait for it a tenth of a second: it is the trigrams of notes that cost,
 * a millisecond for each thousand characters.
 */
export const largestSlice = { licenses: 500, characters: 50_000 } as const;

/**
 * Adds licenses to an embedded database in short transactions, with everybody else's statements between them. They are
 * hidden until the last transaction, which is as short, shows them all. After a failure they are deleted, and after a
 * crash the next start does so. One addition is under way at a time, and developers take turns.
 * @throws {ServiceError} UNAVAILABLE when too many wait; APP_NOT_FOUND, and what `admit` and `add` throw
 */
export async function addInSlices<Terms, Added>(
  ctx: ServiceContext,
  developerId: string,
  addition: Addition<Terms, Added>,
): Promise<Added> {
  const { database, log, mintTurns } = ctx.env;
  const asked = performance.now();
  try {
    // Accounts are free: turns go round between networks.
    return await mintTurns.run(networkOf(ctx.client.ip), async () => {
      requireReader(ctx);
      if (performance.now() - asked > longestWait) throw tooManyMints();
      // Nothing is there, unless the database failed when it was to be discarded.
      await discardMintUnderWay(database.pool);
      try {
        return await add(ctx, developerId, addition);
      } catch (error) {
        // Should the failure be the last commit's and the commit be done, there is nothing left to discard.
        await discardMintUnderWay(database.pool).catch((err: unknown) =>
          log.error({ err }, 'Licenses of a mint that failed could not be deleted; they stay hidden'),
        );
        throw error;
      }
    });
  } catch (error) {
    if (!(error instanceof NoPlaceError)) throw error;
    throw tooManyMints();
  }
}

/**
 * A mint under way does not take the developer's or the network's turns for its changes: other developers' mints wait for
 * it, and would also wait for every other change of that developer or network.
 */
const taker = { developer: 'mint', network: 'mint' } as const;

/** After a longer wait the client's connection may end before it has read its keys. In milliseconds. */
const longestWait = 60_000;

const tooManyMints = () =>
  new ServiceError('UNAVAILABLE', 'Too many mints are waiting. Nothing was minted. Try again in a minute.');

/** Keys are shown only once: without a reader they would be lost. */
function requireReader({ work }: ServiceContext): void {
  if (work?.signal.aborted) throw workAbandoned();
}

async function add<Terms, Added>(
  ctx: ServiceContext,
  developerId: string,
  addition: Addition<Terms, Added>,
): Promise<Added> {
  const { prisma } = ctx.env.database;
  const { applicationId, ids } = addition;
  const now = new Date(ctx.env.clock.now());
  const begin = async (transaction: Prisma.TransactionClient): Promise<Terms> => {
    const admitted = await addition.admit(transaction);
    await hide(transaction, applicationId, ids);
    return admitted;
  };
  const terms = await developerTransaction(ctx, developerId, begin, { taker });
  const added = await addition.add(terms, async (licenses) => {
    const inserted = new Set<string>();
    for (const slice of slicesOf(licenses)) {
      requireReader(ctx);
      const own = await prisma.$transaction(async (transaction) => {
        if (!(await holdApplication(transaction, applicationId))) throw applicationNotFound();
        return insertLicenses(transaction, applicationId, slice, now);
      });
      for (const id of own) inserted.add(id);
    }
    return inserted;
  });
  const finish = async (
    transaction: Prisma.TransactionClient,
    invalidations: Invalidations,
  ): Promise<void> => {
    await addition.admit(transaction);
    await show(transaction);
    await addition.record(transaction, invalidations, added);
  };
  await developerTransaction(ctx, developerId, finish, { taker });
  return added;
}

async function hide(
  transaction: Prisma.TransactionClient,
  applicationId: string,
  ids: readonly string[],
): Promise<void> {
  const [fromId = '', toId = fromId] = [ids[0], ids.at(-1)];
  await transaction.mintUnderWay.create({ data: { applicationId, amount: ids.length, fromId, toId } });
}

/** Shows all licenses of the mint, and counts them: the triggers have passed over what was hidden. */
async function show(transaction: Prisma.TransactionClient): Promise<void> {
  await transaction.$executeRaw`
    WITH done AS (DELETE FROM mint_under_way RETURNING application_id, amount)
    INSERT INTO license_count_changes (application_id, status, expiry_hour, change)
    SELECT application_id, 'unused', expiry_hour('unused', NULL), amount FROM done`;
}

function* slicesOf(licenses: readonly NewLicense[]): Generator<readonly NewLicense[]> {
  let slice: NewLicense[] = [];
  let characters = 0;
  for (const license of licenses) {
    const own = (license.note ?? license.noteCiphertextB64 ?? '').length;
    if (slice.length === largestSlice.licenses || characters + own > largestSlice.characters) {
      if (slice.length > 0) yield slice;
      slice = [];
      characters = 0;
    }
    slice.push(license);
    characters += own;
  }
  if (slice.length > 0) yield slice;
}
