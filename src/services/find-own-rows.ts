import { Prisma } from '../db/client.ts';
import { isId } from '../lib/ids.ts';
import { requireDeveloper } from './actor.ts';
import type { ServiceContext } from './context.ts';
import { type ListRow, type ListTable, selected } from './list-source.ts';
import { isOwn } from './own-application.ts';
import type { Scope } from './scopes.ts';
import { run } from './statements.ts';

/**
 * Reads the developer's rows with these ids, with these columns, in one statement. Other developers' rows are left out like
 * missing rows and malformed ids: a log entry can name a license of another developer.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, TOO_MANY_READS
 */
export async function findOwnRows<Row extends ListRow>({
  ctx,
  table,
  ids,
  columns,
  scope = table.readScope,
}: {
  ctx: ServiceContext;
  table: ListTable;
  ids: readonly string[];
  columns: readonly string[];
  /** Null for rows that the caller has just changed, which an answer may show. */
  scope?: Scope | null;
}): Promise<ReadonlyMap<string, Row>> {
  if (scope !== null) requireDeveloper(ctx.actor, scope);
  const name = Prisma.raw(table.name);
  const rows = await run<Row>(
    ctx,
    Prisma.sql`
      SELECT ${selected(table, columns)} FROM ${name}
      WHERE ${name}.id = ANY(${ids.filter(isId)}::uuid[])
        AND ${isOwn(ctx.actor, table.developerId, table.applicationId)}`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}
