import { Prisma } from '../../db/client.ts';
import { lowestId } from '../../db/log-partition.ts';
import { timeOfId } from '../../lib/ids.ts';
import type { ServiceContext } from '../context.ts';
import { selected } from '../list-source.ts';
import { run } from '../statements.ts';
import { type SecurityLogFilter, securityLogMatches, securityLogTable } from './lists.ts';
import type { SecurityLogView } from './view.ts';

/** Where a follower stands: the next entry to read is the lowest from this id on, or above it. */
export interface Position {
  readonly id: string;
  readonly included: boolean;
}

/** A range of a log, oldest first. */
export interface Range {
  readonly rows: readonly SecurityLogView[];
  /** Where to go on. */
  readonly next: Position;
  /** Whether all below the watermark has been read. */
  readonly complete: boolean;
}

/** The most entries that one statement gives. */
const maxRows = 100;
/** The most entries that one statement looks at, where a filter may let few of them through. */
const maxScanned = 2_000;

const week = 7 * 24 * 60 * 60 * 1000;

/**
 * Reads on in an application's log, up to the watermark. A keyset on the index of application and id: what it costs does
 * not grow with the log, nor with what a filter leaves out.
 *
 * Only that index serves a comparison of both columns. Given a range of ids alone, PostgreSQL takes the newest entries,
 * which its statistics do not know yet, for a few: it would read those of all applications by the primary key.
 */
export async function readAfter(
  ctx: ServiceContext,
  { applicationId, filter }: { applicationId: string; filter: SecurityLogFilter },
  position: Position,
  watermark: string,
): Promise<Range> {
  const above = Prisma.raw(position.included ? '>=' : '>');
  // Excludes older partitions, and is so far back that PostgreSQL does not take it for a range of few entries.
  const weekBefore = lowestId(Math.max(0, timeOfId(position.id) - week));
  const range = Prisma.sql`application_id = ${applicationId}::uuid
    AND security_log.id >= ${weekBefore}::uuid AND security_log.id < ${watermark}::uuid
    AND (application_id, security_log.id) ${above} (${applicationId}::uuid, ${position.id}::uuid)
    AND (application_id, security_log.id) < (${applicationId}::uuid, ${watermark}::uuid)`;
  const lastScanned = Object.keys(filter).length === 0 ? null : await findLastScanned(ctx, range);
  const rows = await run<SecurityLogView>(
    ctx,
    Prisma.sql`
      SELECT ${selected(securityLogTable, Object.keys(securityLogTable.columns))} FROM security_log
      WHERE ${range} AND ${lastScanned === null ? Prisma.sql`TRUE` : Prisma.sql`security_log.id <= ${lastScanned}::uuid`}
        AND ${securityLogMatches(filter)}
      ORDER BY security_log.id
      LIMIT ${maxRows}`,
  );
  const last = rows.at(-1);
  if (last !== undefined && rows.length === maxRows)
    return { rows, next: { id: last.id, included: false }, complete: false };
  if (lastScanned !== null) return { rows, next: { id: lastScanned, included: false }, complete: false };
  // Nothing below the watermark is left or to come. A reader that named an id slightly ahead waits for it.
  const next = watermark > position.id ? { id: watermark, included: true } : position;
  return { rows, next, complete: true };
}

/** The last entry that a filtered statement reads; null if it may read everything below the watermark. */
async function findLastScanned(ctx: ServiceContext, range: Prisma.Sql): Promise<string | null> {
  const [last] = await run<{ id: string }>(
    ctx,
    Prisma.sql`SELECT id FROM security_log WHERE ${range} ORDER BY id OFFSET ${maxScanned - 1} LIMIT 1`,
  );
  return last?.id ?? null;
}
