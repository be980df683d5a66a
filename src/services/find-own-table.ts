import { Prisma } from '../db/client.ts';
import { isId } from '../lib/ids.ts';
import { requireDeveloper } from './actor.ts';
import type { ServiceContext } from './context.ts';
import type { ListTable } from './list-source.ts';
import { run } from './statements.ts';

/**
 * Which of some tables has a row of the developer's with this id. Null if none has, also if the row is another
 * developer's.
 * @throws {ServiceError} UNAUTHENTICATED, TOO_MANY_READS
 */
export async function findOwnTable<Name extends string>(
  ctx: ServiceContext,
  tables: Readonly<Record<Name, ListTable>>,
  id: string,
): Promise<Name | null> {
  const developerId = requireDeveloper(ctx.actor);
  if (!isId(id)) return null;
  const found = Object.entries<ListTable>(tables).map(([name, table]) => {
    const isOwn = Prisma.raw(`${table.developerId} = `);
    return Prisma.sql`
      SELECT ${name} AS name FROM ${Prisma.raw(table.name)}
      WHERE ${Prisma.raw(table.name)}.id = ${id}::uuid AND ${isOwn}${developerId}::uuid`;
  });
  const [row] = await run<{ name: Name }>(ctx, Prisma.join(found, ' UNION ALL '));
  return row?.name ?? null;
}
