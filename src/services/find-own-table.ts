import { Prisma } from '../db/client.ts';
import { isId } from '../lib/ids.ts';
import type { ServiceContext } from './context.ts';
import type { ListTable } from './list-source.ts';
import { isOwn } from './own-application.ts';
import { run } from './statements.ts';

/**
 * Finds the type whose table contains the row with this id, or null if the caller has no such row. Reading it needs the
 * scope of the table.
 * @throws {ServiceError} UNAUTHENTICATED, TOO_MANY_READS
 */
export async function findOwnTable<Name extends string>(
  ctx: ServiceContext,
  types: Readonly<Record<Name, { readonly table: ListTable }>>,
  id: string,
): Promise<Name | null> {
  if (!isId(id)) return null;
  const found = Object.entries<{ readonly table: ListTable }>(types).map(([name, { table }]) => {
    return Prisma.sql`
      SELECT ${name} AS name FROM ${Prisma.raw(table.name)}
      WHERE ${Prisma.raw(table.name)}.id = ${id}::uuid AND ${isOwn(ctx.actor, table.developerId, table.applicationId)}`;
  });
  const [row] = await run<{ name: Name }>(ctx, Prisma.join(found, ' UNION ALL '));
  return row?.name ?? null;
}
