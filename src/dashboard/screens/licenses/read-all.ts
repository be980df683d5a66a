import { ApiError } from '../../api/api-error.ts';
import { isPassing } from '../../api/query-client.ts';
import { request } from '../../api/request.ts';
import type { LicenseFilter } from '../../generated/graphql.ts';
import type { Page } from '../../list/page.ts';
import { type LicenseRow, LicensesPage, readLicenses } from './licenses-page.ts';

/** The largest page that the API gives. */
const largestPage = 200;
const waitMilliseconds = 5_000;

/** What a list of licenses shows. */
export interface LicenseQuery {
  readonly applicationId: string;
  readonly q?: string | undefined;
  readonly filter: LicenseFilter;
}

const mayPass = (thrown: unknown): boolean =>
  isPassing(thrown) || (thrown instanceof ApiError && thrown.code === 'RATE_LIMITED');

/** Reads all licenses page by page. It waits while the service has no time for it, until the signal ends it. */
export async function* readAllLicenses(
  { applicationId, q, filter }: LicenseQuery,
  signal: AbortSignal,
): AsyncGenerator<Page<LicenseRow>> {
  let after: string | null = null;
  let failures = 0;
  for (;;) {
    try {
      const page: Page<LicenseRow> = readLicenses(
        await request(
          LicensesPage,
          { applicationId, first: largestPage, after, q: q ?? null, filter, isCounted: false },
          { signal },
        ),
      );
      failures = 0;
      yield page;
      if (!page.hasNextPage) return;
      after = page.endCursor;
    } catch (thrown) {
      if (signal.aborted || !mayPass(thrown) || ++failures > 12) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, waitMilliseconds));
    }
    signal.throwIfAborted();
  }
}
