import { Prisma } from '../db/client.ts';
import { isId } from '../lib/ids.ts';
import { requireDeveloper } from './actor.ts';
import type { ServiceContext } from './context.ts';
import type { ListTable } from './list-source.ts';
import { run } from './statements.ts';

/**
 * Finds the type whose table contains the row with this id, or null if the developer has no such row.
 * @throws {ServiceError} UNAUTHENTICATED, TOO_MANY_READS
 */
export async function findOwnTable<Name extends string>(
  ctx: ServiceContext,
  types: Readonly<Record<Name, { readonly table: ListTable }>>,
  id: string,
): Promise<Name | null> {
  const developerId = requireDeveloper(ctx.actor);
  if (!isId(id)) return null;
  const found = Object.entries<{ readonly table: ListTable }>(types).map(([name, { table }]) => {
    const isOwn = Prisma.raw(`${table.developerId} = `);
    return Prisma.sql`
      SELECT ${name} AS name FROM ${Prisma.raw(table.name)}
      WHERE ${Prisma.raw(table.name)}.id = ${id}::uuid AND ${isOwn}${developerId}::uuid`;
  });
  const [row] = await run<{ name: Name }>(ctx, Prisma.join(found, ' UNION ALL '));
  return row?.name ?? null;
}
