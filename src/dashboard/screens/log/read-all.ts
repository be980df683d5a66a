import { request } from '../../api/request.ts';
import type { LogEntryFragment, SecurityLogFilter } from '../../generated/graphql.ts';
import type { Page } from '../../list/page.ts';
import { largestPage, readAll } from '../../list/read-all.ts';
import { LogPage, readLog } from './log-page.ts';

/** A log can have millions of entries; a spreadsheet cannot. */
export const mostExported = 100_000;

export interface LogQuery {
  readonly applicationId: string;
  readonly q: string | null;
  readonly filter: SecurityLogFilter;
}

/** Reads the newest entries page by page. */
export async function* readAllEntries(
  log: LogQuery,
  signal: AbortSignal,
): AsyncGenerator<Page<LogEntryFragment>> {
  const read = async (after: string | null) =>
    readLog(await request(LogPage, { ...log, first: largestPage, after, isCounted: false }, { signal }));
  let count = 0;
  for await (const page of readAll(read, signal)) {
    yield page;
    count += page.rows.length;
    if (count >= mostExported) return;
  }
}
