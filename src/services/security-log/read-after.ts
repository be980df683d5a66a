import { Prisma } from '../../db/client.ts';
import { lowestId } from '../../db/log-partition.ts';
import { timeOfId } from '../../lib/ids.ts';
import type { ServiceContext } from '../context.ts';
import { selected } from '../list-source.ts';
import { run } from '../statements.ts';
import { type SecurityLogFilter, securityLogMatches, securityLogTable } from './lists.ts';
import type { SecurityLogEntryRow } from './view.ts';

/** The position of a follower: the next entry to read is the lowest one at or above this id, or above it. */
export interface Position {
  readonly id: string;
  readonly included: boolean;
}

/** A range of a log, oldest first. */
export interface Range {
  readonly rows: readonly SecurityLogEntryRow[];
  /** Where to continue. */
  readonly next: Position;
  /** Whether everything below the watermark has been read. */
  readonly complete: boolean;
}

/** Maximum number of entries that one statement returns. */
const maxRows = 100;
/** Maximum number of entries that one statement checks against a filter. */
const maxScanned = 2_000;

const week = 7 * 24 * 60 * 60 * 1000;

/**
 * Reads the next entries of an application's log, up to the watermark. It uses a keyset on the index of application and
 * id, so its cost grows neither with the log nor with the entries that a filter excludes.
 *
 * Both columns are compared, because only that index supports this. With a range of ids alone, PostgreSQL would expect
 * few new entries, which its statistics do not include yet, and read those of all applications by the primary key.
 */
export async function readAfter(
  ctx: ServiceContext,
  { applicationId, filter }: { applicationId: string; filter: SecurityLogFilter },
  position: Position,
  watermark: string,
): Promise<Range> {
  const above = Prisma.raw(position.included ? '>=' : '>');
  // Excludes older partitions. It is far enough back that PostgreSQL does not expect a range of few entries.
  const weekBefore = lowestId(Math.max(0, timeOfId(position.id) - week));
  const range = Prisma.sql`application_id = ${applicationId}::uuid
    AND security_log.id >= ${weekBefore}::uuid AND security_log.id < ${watermark}::uuid
    AND (application_id, security_log.id) ${above} (${applicationId}::uuid, ${position.id}::uuid)
    AND (application_id, security_log.id) < (${applicationId}::uuid, ${watermark}::uuid)`;
  const lastScanned = Object.keys(filter).length === 0 ? null : await findLastScanned(ctx, range);
  const rows = await run<SecurityLogEntryRow>(
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
  // Nothing below the watermark is left, and nothing will appear there. A client whose id is slightly ahead waits for
  // it.
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
