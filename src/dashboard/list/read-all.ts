import { ApiError } from '../api/api-error.ts';
import { isPassing } from '../api/query-client.ts';
import type { Page } from './page.ts';

/** The largest page that the API gives. */
export const largestPage = 200;
const waitMilliseconds = 5_000;

const mayPass = (thrown: unknown): boolean =>
  isPassing(thrown) || (thrown instanceof ApiError && thrown.code === 'RATE_LIMITED');

/**
 * Reads a list page by page. It waits while the service has no time for it, until the signal ends it.
 * @param read the page of `largestPage` rows after a cursor
 * @param start the cursor to begin after
 */
export async function* readAll<Row>(
  read: (after: string | null) => Promise<Page<Row>>,
  signal: AbortSignal,
  start: string | null = null,
): AsyncGenerator<Page<Row>> {
  let after = start;
  let failures = 0;
  for (;;) {
    try {
      const page = await read(after);
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
