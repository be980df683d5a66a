import type { Prisma } from '../../db/client.ts';
import { discardMintUnderWay } from '../../db/mint-under-way.ts';
import { QueueFullError } from '../../lib/fair-queue.ts';
import { networkOf } from '../../lib/ip.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { ServiceContext } from '../context.ts';
import { applicationNotFound, ServiceError } from '../errors.ts';
import { workAbandoned } from '../request-work.ts';
import { developerTransaction, lockApplication } from '../transaction.ts';
import type { Addition } from './addition.ts';
import { insertLicenses, type NewLicense } from './insert.ts';
import { charactersOf } from './mint-terms.ts';

/**
 * Maximum size of a slice, chosen so that other requests wait about a tenth of a second for it. The trigrams of notes are
 * the main cost: a millisecond per thousand characters.
 */
export const maxSlice = { licenses: 500, characters: 50_000 } as const;

/**
 * Adds licenses to an embedded database in short transactions, between which other requests' statements run. The licenses
 * are hidden until the last transaction, which is short too, shows them all. After a failure they are deleted; after a
 * crash the next start deletes them. Only one addition runs at a time, and networks take turns.
 * @throws {ServiceError} UNAVAILABLE if too many additions are waiting; APP_NOT_FOUND; whatever `admit` and `add` throw
 */
export async function addInSlices<Terms, Added, Answer>(
  ctx: ServiceContext,
  developerId: string,
  addition: Addition<Terms, Added, Answer>,
): Promise<Answer> {
  const { database, log, mintTurns } = ctx.env;
  const queuedAt = performance.now();
  try {
    // Accounts are free to create, so turns rotate between networks.
    return await mintTurns.run(networkOf(ctx.client.ip), async () => {
      requireConnectedClient(ctx);
      if (performance.now() - queuedAt > maxWait) throw tooManyMints();
      // Usually a no-op; an earlier mint remains only if the database failed while it was being discarded.
      await discardMintUnderWay(database.pool);
      try {
        return await add(ctx, developerId, addition);
      } catch (error) {
        // If the last commit failed but took effect, there is nothing left to discard.
        await discardMintUnderWay(database.pool).catch((err: unknown) =>
          log.error({ err }, 'Licenses of a failed mint could not be deleted; they stay hidden'),
        );
        throw error;
      }
    });
  } catch (error) {
    if (!(error instanceof QueueFullError)) throw error;
    throw tooManyMints();
  }
}

/**
 * A mint's transactions do not use the developer's or network's turns. Other developers' mints wait for this one, and would
 * then also wait for all other changes of that developer or network.
 */
const requester = { developer: 'mint', network: 'mint' } as const;

/** After a longer wait, the client's connection may time out before it has received its keys. In milliseconds. */
const maxWait = 60_000;

const tooManyMints = () =>
  new ServiceError('UNAVAILABLE', 'Too many mints are waiting. Nothing was minted. Try again in a minute.');

/** Keys are shown only once, so they would be lost if the client has disconnected. */
function requireConnectedClient({ work }: ServiceContext): void {
  if (work?.signal.aborted) throw workAbandoned();
}

async function add<Terms, Added, Answer>(
  ctx: ServiceContext,
  developerId: string,
  addition: Addition<Terms, Added, Answer>,
): Promise<Answer> {
  const { prisma } = ctx.env.database;
  const { applicationId, ids } = addition;
  const now = new Date(ctx.env.clock.now());
  const begin = async (transaction: Prisma.TransactionClient): Promise<Terms> => {
    const admitted = await addition.admit(transaction);
    await hide(transaction, applicationId, ids);
    return admitted;
  };
  const terms = await developerTransaction(ctx, developerId, begin, { requester, answer: null });
  const added = await addition.add(terms, async (licenses, granted) => {
    const inserted = new Set<string>();
    for (const slice of slicesOf(licenses, charactersOf(granted))) {
      requireConnectedClient(ctx);
      const ids = await prisma.$transaction(async (transaction) => {
        if (!(await lockApplication(transaction, applicationId))) throw applicationNotFound();
        return insertLicenses(transaction, applicationId, slice, granted, now);
      });
      for (const id of ids) inserted.add(id);
    }
    return inserted;
  });
  const finish = async (
    transaction: Prisma.TransactionClient,
    invalidations: Invalidations,
  ): Promise<Answer> => {
    await addition.admit(transaction);
    await show(transaction);
    await addition.record(transaction, invalidations, added);
    return addition.answer(added);
  };
  return developerTransaction(ctx, developerId, finish, { requester });
}

async function hide(
  transaction: Prisma.TransactionClient,
  applicationId: string,
  ids: readonly string[],
): Promise<void> {
  const [fromId = '', toId = fromId] = [ids[0], ids.at(-1)];
  await transaction.mintUnderWay.create({ data: { applicationId, amount: ids.length, fromId, toId } });
}

/** Shows all licenses of the mint and adds them to the counts; the triggers skip hidden licenses. Some may be active. */
async function show(transaction: Prisma.TransactionClient): Promise<void> {
  await transaction.$executeRaw`
    WITH done AS (DELETE FROM mint_under_way RETURNING application_id, from_id, to_id)
    INSERT INTO license_count_changes (application_id, status, expiry_hour, change)
    SELECT application_id, status, expiry_hour(status, expires_at), count(*)
    FROM done JOIN licenses USING (application_id) WHERE licenses.id BETWEEN from_id AND to_id
    GROUP BY 1, 2, 3`;
}

/** @param each the characters that every license has besides its note */
function* slicesOf(licenses: readonly NewLicense[], each: number): Generator<readonly NewLicense[]> {
  let slice: NewLicense[] = [];
  let characters = 0;
  for (const license of licenses) {
    const length = each + (license.note ?? license.noteCiphertextB64 ?? '').length;
    if (slice.length === maxSlice.licenses || characters + length > maxSlice.characters) {
      if (slice.length > 0) yield slice;
      slice = [];
      characters = 0;
    }
    slice.push(license);
    characters += length;
  }
  if (slice.length > 0) yield slice;
}
