import { ApiError } from '../../api/api-error.ts';
import { isPassing } from '../../api/query-client.ts';
import { request } from '../../api/request.ts';
import type { LogEntryFragment, SecurityLogFilter } from '../../generated/graphql.ts';
import type { Page } from '../../list/page.ts';
import { LogPage, readLog } from './log-page.ts';

/** The largest page that the API gives. */
const largestPage = 200;
const waitMilliseconds = 5_000;
/** A log can have millions of entries; a spreadsheet cannot. */
export const mostExported = 100_000;

export interface LogQuery {
  readonly applicationId: string;
  readonly q: string | null;
  readonly filter: SecurityLogFilter;
}

const mayPass = (thrown: unknown): boolean =>
  isPassing(thrown) || (thrown instanceof ApiError && thrown.code === 'RATE_LIMITED');

/** Reads the entries page by page. It waits while the service has no time for it, until the signal ends it. */
export async function* readAllEntries(
  log: LogQuery,
  signal: AbortSignal,
): AsyncGenerator<Page<LogEntryFragment>> {
  let after: string | null = null;
  let failures = 0;
  let read = 0;
  while (read < mostExported) {
    try {
      const variables = { ...log, first: largestPage, after, isCounted: false };
      const page: Page<LogEntryFragment> = readLog(await request(LogPage, variables, { signal }));
      failures = 0;
      read += page.rows.length;
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
