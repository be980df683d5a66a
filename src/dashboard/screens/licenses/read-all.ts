import { request } from '../../api/request.ts';
import type { LicenseFilter } from '../../generated/graphql.ts';
import type { Page } from '../../list/page.ts';
import { largestPage, readAll } from '../../list/read-all.ts';
import { type LicenseRow, LicensesPage, readLicenses } from './licenses-page.ts';

/** What a list of licenses shows. */
export interface LicenseQuery {
  readonly applicationId: string;
  readonly q?: string | undefined;
  readonly filter: LicenseFilter;
}

/**
 * Reads all licenses page by page.
 * @param start the cursor to begin after
 */
export function readAllLicenses(
  { applicationId, q, filter }: LicenseQuery,
  signal: AbortSignal,
  start: string | null = null,
): AsyncGenerator<Page<LicenseRow>> {
  const read = async (after: string | null) =>
    readLicenses(
      await request(
        LicensesPage,
        { applicationId, first: largestPage, after, q: q ?? null, filter, isCounted: false },
        { signal },
      ),
    );
  return readAll(read, signal, start);
}
