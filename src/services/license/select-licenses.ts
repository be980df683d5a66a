import { z } from 'zod';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { text } from '../fields.ts';
import { licenseFilter, licensesOfApplications, matchesLicenseFilter } from './lists.ts';
import type { Selection } from './read-slice.ts';

/** The number of licenses that one request may change. */
export const maxSelected = 10_000;

/** Licenses by their ids or by a filter, of which exactly one is given. */
export const selectionShape = {
  ids: z
    .array(text({ min: 1, max: 64 }))
    .min(1)
    .optional(),
  /** The licenses that match now; all of the application if it has no condition. */
  filter: licenseFilter.optional(),
};

interface Selected {
  readonly ids?: readonly string[] | undefined;
  readonly filter?: z.output<typeof licenseFilter> | undefined;
}

export const hasOneSelection = ({ ids, filter }: Selected): boolean =>
  (ids === undefined) !== (filter === undefined);

/**
 * Finds the licenses of a selection in one of the developer's applications. Ids need not exist.
 * @param before what an earlier request with the same Idempotency-Key has selected; null without one
 * @throws {ServiceError} TOO_MANY with their number; SEARCH_TOO_BROAD, TOO_MANY_READS
 */
export async function selectLicenses(
  ctx: ServiceContext,
  applicationId: string,
  { ids = [], filter }: Selected,
  before: readonly string[] | null,
): Promise<Selection> {
  if (before !== null) {
    const condition = filter && { condition: () => matchesLicenseFilter(filter, ctx) };
    return { applicationId, ids: before, isContinued: true, ...condition };
  }
  if (filter === undefined) {
    const once = [...new Set(ids)];
    if (once.length > maxSelected) throw tooMany(inDigits(once.length));
    return { applicationId, ids: once };
  }
  // The caller changes these licenses and is told their ids.
  const query = { ctx, parentIds: [applicationId], filter, scope: 'licenses:write' as const };
  const slices = await licensesOfApplications.slices({
    ...query,
    slice: { size: maxSelected + 1, backward: false, fromId: null },
    lookAhead: false,
    columns: [],
  });
  const { rows = [] } = slices.get(applicationId) ?? {};
  if (rows.length > maxSelected) throw tooMany(await countOf(query));
  return {
    applicationId,
    ids: rows.map(({ id }) => id),
    condition: () => matchesLicenseFilter(filter, ctx),
  };
}

/** The number of licenses in digits; only that there are too many if they cannot be counted in the time of a request. */
async function countOf(query: Parameters<typeof licensesOfApplications.counts>[0]): Promise<string> {
  const [applicationId = ''] = query.parentIds;
  try {
    const counts = await licensesOfApplications.counts({ ...query, most: Number.POSITIVE_INFINITY });
    return inDigits(counts.get(applicationId)?.count ?? 0);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'SEARCH_TOO_BROAD') throw error;
    return `more than ${inDigits(maxSelected)}`;
  }
}

const inDigits = (count: number): string => count.toLocaleString('en-US');

const tooMany = (count: string) =>
  new ServiceError(
    'TOO_MANY',
    `These are ${count} licenses; one request can change ${inDigits(maxSelected)}. Nothing was changed. Narrow the filter, ` +
      'or send several requests.',
  );
