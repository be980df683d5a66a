import type { Prisma } from '../../db/client.ts';
import { tidySearchIndexes } from '../../db/search-indexes.ts';
import { pause } from '../../lib/pause.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { ServiceContext } from '../context.ts';
import { inChangeTurn, inReadTurn } from '../developer-turns.ts';
import { applicationNotFound, RateLimitedError, ServiceError } from '../errors.ts';
import { tooLate } from '../request-work.ts';
import { revokeLeases } from '../revocation/revoke-leases.ts';
import type { SecurityLogInput } from '../security-log/entry.ts';
import type { SecurityEvent } from '../security-log/events.ts';
import { recordSecurityEvents } from '../security-log/record-all.ts';
import { developerTransaction, lockApplication } from '../transaction.ts';
import { saysUnavailable } from '../unavailable.ts';
import { licenseEventData } from './event-data.ts';
import { invalidateLicense, type LockedLicense } from './lock.ts';
import { readSlice, type Selection, type Slice } from './read-slice.ts';
import { type LicenseColumns, writeColumns } from './write-columns.ts';

/** Why a license of a selection is not changed. */
export const skipCodes = [
  /** The application has no such license. */
  'LICENSE_NOT_FOUND',
  /** It no longer matched the filter when it was its turn. */
  'NOT_MATCHED',
  /** It is like this already. */
  'UNCHANGED',
  'INVALID_TRANSITION',
  /** The parameters do not fit the license. */
  'VALIDATION_FAILED',
  /** The database refused, or the time was over; licenses before it are changed. */
  'UNAVAILABLE',
  /** The account's answers with an Idempotency-Key are too large together; licenses before it are changed. */
  'RATE_LIMITED',
  /** The caller's session or API key ended; licenses before it are changed. */
  'UNAUTHENTICATED',
] as const;
export type SkipCode = (typeof skipCodes)[number];

/** What a change does to a license, and its log entry. */
export interface SliceChange {
  /** The columns to write; null for a change that deletes. */
  readonly data: LicenseColumns | null;
  readonly event: SecurityEvent;
  readonly metadata: NonNullable<SecurityLogInput['metadata']>;
  /** Whether the license's leases are no longer valid. */
  readonly revokesLeases: boolean;
}

/** A change of many licenses. */
export interface ManyChanges<Basis = undefined> {
  /** Whether it deletes the licenses that it changes. */
  readonly deletes?: boolean;
  /** Read values that it depends on. They are stored with the first slice, so that a repeated request goes on with them. */
  readonly basis?: Basis;
  /** What it does to a license, or the code of why it does nothing. Pure: it is also asked for a preview. */
  readonly judge: (license: LockedLicense, now: Date, basis?: Basis) => SliceChange | SkipCode;
}

/** What became of a license, or would. */
export interface LicenseResult {
  readonly id: string;
  /** Null if there is no such license. */
  readonly keyPrefix: string | null;
  readonly outcome: 'changed' | 'skipped';
  /** Set if it is skipped. */
  readonly code?: SkipCode;
}

/** What a slice did. */
interface DoneSlice<Basis = unknown> {
  readonly outcomes: readonly LicenseResult[];
  /** Of the texts of the licenses that it changed. */
  readonly characters: number;
  /** The ids of the whole selection, of the first slice: a request that is repeated with its Idempotency-Key goes on with them. */
  readonly selected?: readonly string[];
  /** What the changes depend on, of the first slice. */
  readonly basis?: Basis;
}

/** The selection of an earlier request with the same Idempotency-Key, and what it depended on. */
interface Before<Basis> {
  readonly selected: readonly string[] | null;
  readonly basis: Basis | null;
}

/** Both null if no earlier request has changed anything. */
export async function readBefore<Basis>({ idempotency }: ServiceContext): Promise<Before<Basis>> {
  const first = await idempotency?.step<DoneSlice<Basis>>(1);
  return { selected: first?.selected ?? null, basis: first?.basis ?? null };
}

export const selectedBefore = async (ctx: ServiceContext): Promise<readonly string[] | null> =>
  (await readBefore(ctx)).selected;

/**
 * Changes the licenses of a selection in short transactions, each in the developer's turn, so that other requests run in
 * between. Each locks its licenses in order of their ids, judges them as they are then, and writes all changes and log
 * entries in one statement each. A slice is changed as a whole or not at all; the selection is not.
 *
 * A request that is repeated with its Idempotency-Key goes on after the slices that were committed, and has their results.
 *
 * If the database refuses a slice, the client has gone before its turn, or the request has run for too long to be answered
 * after another one, the rest is skipped with UNAVAILABLE. If that is because a commit was not acknowledged, its slice may
 * have been changed after all. If the result of a slice may not be stored, the rest is skipped with RATE_LIMITED.
 * @param selection of the developer's own application. Ids that it does not have are skipped.
 * @returns a result for each id, in their order
 * @throws {ServiceError} UNAUTHENTICATED; APP_NOT_FOUND, RATE_LIMITED or UNAVAILABLE if nothing was changed
 */
export async function changeInSlices<Basis>(
  ctx: ServiceContext,
  developerId: string,
  selection: Selection,
  changes: ManyChanges<Basis>,
): Promise<readonly LicenseResult[]> {
  const { applicationId } = selection;
  const { idempotency } = ctx;
  let { ids } = selection;
  let { basis } = changes;
  const results: LicenseResult[] = [];
  let unmerged = 0;
  let isReplay = idempotency !== undefined;
  // With an Idempotency-Key, an empty selection is stored, too.
  for (let step = 1; results.length < ids.length || (isReplay && step === 1); step += 1) {
    try {
      const done = await idempotency?.step<DoneSlice<Basis>>(step);
      if (done) {
        // Another request may have begun since this one made its selection.
        ids = done.selected ?? ids;
        basis = done.basis ?? basis;
        results.push(...done.outcomes);
        continue;
      }
      isReplay = false;
      if (ctx.work?.isLate()) throw tooLate();
      const { outcomes, characters } = await developerTransaction(
        ctx,
        developerId,
        async (transaction, invalidations): Promise<DoneSlice<Basis>> => {
          if (!(await lockApplication(transaction, applicationId))) throw applicationNotFound();
          const locks = changes.deletes ? 'users-too' : 'licenses';
          const slice = await readSlice(transaction, { ...selection, ids }, results.length, locks);
          const now = new Date(ctx.env.clock.now());
          const { changed, outcomes } = judgeSlice(slice, (license) => changes.judge(license, now, basis));
          if (changed.length > 0) {
            await write(ctx, transaction, invalidations, { developerId, applicationId, changed, now });
          }
          return {
            outcomes,
            characters: changed.length > 0 ? slice.characters : 0,
            ...(step === 1 && { selected: ids, ...(basis !== undefined && { basis }) }),
          };
        },
        { step },
      );
      results.push(...outcomes);
      await leaveSession(ctx);
      unmerged += characters;
      if (unmerged > maxUnmerged) {
        unmerged = 0;
        await mergeSearchIndex(ctx, developerId);
      }
    } catch (error) {
      const code = codeOfRest(error);
      if (results.length === 0 || code === null) throw error;
      const rest = ids.slice(results.length);
      results.push(...rest.map((id) => ({ id, keyPrefix: null, outcome: 'skipped' as const, code })));
    }
  }
  if (isReplay) idempotency?.noteReplay();
  return results;
}

/**
 * Tells what `changeInSlices` would do, and changes nothing.
 * @throws {ServiceError} TOO_MANY_READS, UNAVAILABLE
 */
export async function previewInSlices<Basis>(
  ctx: ServiceContext,
  selection: Selection,
  { judge, basis }: ManyChanges<Basis>,
): Promise<readonly LicenseResult[]> {
  const results: LicenseResult[] = [];
  while (results.length < selection.ids.length) {
    const slice = await inReadTurn(ctx, () =>
      readSlice(ctx.env.database.prisma, selection, results.length, null),
    );
    const now = new Date(ctx.env.clock.now());
    results.push(...judgeSlice(slice, (license) => judge(license, now, basis)).outcomes);
  }
  return results;
}

/**
 * The number of characters after which pending entries of the search index are merged on the embedded database. Merging
 * costs about as much for more of them, until their list is full.
 */
const maxUnmerged = 100_000;

/** On a server, nobody waits for a merge but the request that happens to begin it. */
async function mergeSearchIndex(ctx: ServiceContext, developer: string): Promise<void> {
  const { kind, pool } = ctx.env.database;
  if (kind !== 'server') await inChangeTurn(ctx, { developer }, () => tidySearchIndexes(pool, ['licenses']));
}

/**
 * Leaves the single session of an embedded database to others for a moment. A validation sends its second statement when
 * the first is answered, and would otherwise wait for two slices.
 */
async function leaveSession({ env: { database }, work }: ServiceContext): Promise<void> {
  if (database.kind === 'server') return;
  await pause(10, work?.signal ?? new AbortController().signal);
}

interface Changed {
  readonly license: LockedLicense;
  readonly change: SliceChange;
}

function judgeSlice(
  { ids, existing, licenses }: Slice,
  judge: (license: LockedLicense) => SliceChange | SkipCode,
): { readonly changed: readonly Changed[]; readonly outcomes: readonly LicenseResult[] } {
  const changed: Changed[] = [];
  const outcomes = ids.map((id): LicenseResult => {
    const license = licenses.get(id);
    if (license === undefined) {
      const code = existing.has(id) ? 'NOT_MATCHED' : 'LICENSE_NOT_FOUND';
      return { id, keyPrefix: null, outcome: 'skipped', code };
    }
    const change = judge(license);
    const { keyPrefix } = license;
    if (typeof change === 'string') return { id, keyPrefix, outcome: 'skipped', code: change };
    changed.push({ license, change });
    return { id, keyPrefix, outcome: 'changed' };
  });
  return { changed, outcomes };
}

/** A slice with more keys, current and previous, names only its application. */
const maxKeys = 1_000;

async function write(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  slice: {
    readonly developerId: string;
    readonly applicationId: string;
    readonly changed: readonly Changed[];
    readonly now: Date;
  },
): Promise<void> {
  const { developerId, applicationId, changed, now } = slice;
  const keys = changed.reduce((sum, { license }) => sum + license.keyHashes.length, 0);
  if (keys > maxKeys) invalidations.licensesOf(applicationId);
  else for (const { license } of changed) invalidateLicense(invalidations, license);
  const revoked = changed.filter(({ change }) => change.revokesLeases).map(({ license }) => license.id);
  if (revoked.length > 0) {
    await revokeLeases(ctx, transaction, invalidations, applicationId, { licenseId: revoked });
  }
  const written = changed.flatMap(({ license: { id }, change: { data } }) =>
    data === null ? [] : [{ id, data }],
  );
  await writeColumns(transaction, written, now);
  const deleted = changed.filter(({ change }) => change.data === null).map(({ license }) => license.id);
  if (deleted.length > 0) await transaction.license.deleteMany({ where: { id: { in: deleted } } });
  await recordSecurityEvents(
    ctx,
    transaction,
    changed.map(({ license, change: { event, metadata, data } }) => ({
      developerId,
      applicationId,
      licenseId: license.id,
      event,
      hwid: data === null ? null : license.hwid,
      metadata,
      ...(data !== null && { eventData: licenseEventData({ ...license, ...data }, now) }),
    })),
  );
}

/** The code of the licenses that are left after an error; null if the caller must be told the error itself. */
function codeOfRest(error: unknown): SkipCode | null {
  if (saysUnavailable(error)) return 'UNAVAILABLE';
  if (error instanceof RateLimitedError) return 'RATE_LIMITED';
  if (!(error instanceof ServiceError)) return null;
  // The session or the key of the caller ended meanwhile.
  if (error.code === 'UNAUTHENTICATED') return 'UNAUTHENTICATED';
  return error.code === 'APP_NOT_FOUND' ? 'LICENSE_NOT_FOUND' : null;
}
