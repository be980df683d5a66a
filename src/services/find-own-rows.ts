import { Prisma } from '../db/client.ts';
import { isId } from '../lib/ids.ts';
import { requireDeveloper } from './actor.ts';
import type { ServiceContext } from './context.ts';
import { type ListRow, type ListTable, selected } from './list-source.ts';
import { run } from './statements.ts';

/**
 * The rows with these ids that are the asking developer's own, with these columns, in one statement. Another
 * developer's are left out like those that do not exist, and like text that no id can be: an entry of the log can name
 * the license of a stranger.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function findOwnRows<Row extends ListRow>({
  ctx,
  table,
  ids,
  columns,
}: {
  ctx: ServiceContext;
  table: ListTable;
  ids: readonly string[];
  columns: readonly string[];
}): Promise<ReadonlyMap<string, Row>> {
  const developerId = requireDeveloper(ctx.actor);
  const name = Prisma.raw(table.name);
  const rows = await run<Row>(
    ctx,
    Prisma.sql`
      SELECT ${selected(table, columns)} FROM ${name}
      WHERE ${name}.id = ANY(${ids.filter(isId)}::uuid[]) AND ${Prisma.raw(table.developerId)} = ${developerId}::uuid`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}
