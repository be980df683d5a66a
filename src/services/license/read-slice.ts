import { Prisma } from '../../db/client.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import { searchedText } from '../../db/search-indexes.ts';
import { isId } from '../../lib/ids.ts';
import { type LockedLicense, readLocked } from './lock.ts';

/**
 * Maximum size of a slice, chosen so that other requests wait for a few hundredths of a second on the embedded database.
 * Rows are those of devices, and of users and bans that a deletion changes.
 */
const maxSlice = { licenses: 25, characters: 4_000, rows: 250 } as const;

/** Licenses of an application. */
export interface Selection {
  readonly applicationId: string;
  /** Each once. */
  readonly ids: readonly string[];
  /**
   * What a license must still match when it is its turn; omitted if it was selected by its id. Called for each slice,
   * because it may depend on the time.
   */
  readonly condition?: () => Prisma.Sql;
  /** Whether an earlier request with the same Idempotency-Key has selected them, and changed some. */
  readonly isContinued?: boolean;
  /** How many characters the change writes to each license; 0 by default. */
  readonly charactersEach?: number;
}

/** The first licenses of a selection that are left, as many as fit into a slice. */
export interface Slice {
  readonly ids: readonly string[];
  /** Those that the application has. */
  readonly existing: ReadonlySet<string>;
  /** Those of them that match the condition. */
  readonly licenses: ReadonlyMap<string, LockedLicense>;
  /** The length of what is searched or large in the existing ones. */
  readonly characters: number;
}

/**
 * Reads the next slice.
 * @param from index of its first id
 * @param locks what to lock until the transaction ends: licenses that are changed, or also users of licenses that are
 *   deleted; null to read without locks. The caller has locked the application.
 */
export async function readSlice(
  transaction: Prisma.TransactionClient,
  { applicationId, ids, condition, charactersEach = 0 }: Selection,
  from: number,
  locks: 'licenses' | 'users-too' | null,
): Promise<Slice> {
  const next = ids.slice(from, from + maxSlice.licenses);
  const weights = await weigh(transaction, applicationId, next);
  const fitting = next.slice(0, countFitting(next, weights, charactersEach));
  const existing = fitting.filter((id) => weights.has(id));
  // Before the licenses, as whatever locks rows does; a user who gets a license at the same time is not locked here
  // (delete.ts).
  if (locks === 'users-too') {
    await transaction.$queryRaw`
      SELECT id FROM end_users WHERE license_id = ANY(${existing}::uuid[]) ORDER BY id FOR UPDATE`;
  }
  const matching = await transaction.$queryRaw<{ id: string }[]>`
    SELECT licenses.id FROM licenses
    WHERE licenses.id = ANY(${existing}::uuid[]) AND licenses.application_id = ${applicationId}::uuid
      AND ${condition?.() ?? Prisma.sql`TRUE`}
    ORDER BY licenses.id ${locks === null ? Prisma.empty : Prisma.sql`FOR NO KEY UPDATE`}`;
  const licenses = await readLocked(transaction, { ids: matching.map(({ id }) => id) });
  return {
    ids: fitting,
    existing: new Set(existing),
    licenses: new Map(licenses.map((license) => [license.id, license])),
    characters: existing.reduce((sum, id) => sum + (weights.get(id)?.characters ?? 0) + charactersEach, 0),
  };
}

interface Weight {
  readonly characters: number;
  readonly rows: number;
}

/** The weights of those of the licenses that the application has. */
async function weigh(
  transaction: Prisma.TransactionClient,
  applicationId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Weight>> {
  const found = await transaction.$queryRaw<({ readonly id: string } & Weight)[]>`
    SELECT licenses.id,
      length(${Prisma.raw(searchedText.licenses)}) + length(coalesce(note_ciphertext_b64, ''))
        + length(entitlements::text) + length(coalesce(metadata::text, '')) AS characters,
      ${Prisma.raw(rowsOf.map((rows) => `(SELECT count(*)::int FROM (SELECT FROM ${rows} = licenses.id LIMIT 500) AS own)`).join(' + '))} AS rows
    FROM licenses
    WHERE licenses.id = ANY(${ids.filter(isId)}::uuid[]) AND application_id = ${applicationId}::uuid AND ${Prisma.raw(isNotUnderWay)}`;
  return new Map(found.map(({ id, ...weight }) => [id, weight]));
}

const rowsOf = [
  'devices WHERE devices.license_id',
  'end_users WHERE end_users.license_id',
  'bans WHERE bans.source_license_id',
];

/** How many of the ids fit into a slice; at least one. Ids that do not exist weigh nothing. */
function countFitting(
  ids: readonly string[],
  weights: ReadonlyMap<string, Weight>,
  charactersEach: number,
): number {
  let [characters, rows] = [0, 0];
  const tooMany = ids.findIndex((id) => {
    characters += (weights.get(id)?.characters ?? 0) + charactersEach;
    rows += weights.get(id)?.rows ?? 0;
    return characters > maxSlice.characters || rows > maxSlice.rows;
  });
  return tooMany === -1 ? ids.length : Math.max(tooMany, 1);
}
