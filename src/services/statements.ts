import type { Prisma } from '../db/client.ts';
import type { ServiceContext } from './context.ts';
import { inReadTurn } from './developer-turns.ts';

/**
 * Runs a statement in the developer's turn, without Prisma. `Prisma.Sql` keeps values separate from the text.
 * @throws {ServiceError} TOO_MANY_READS
 */
export async function run<Row extends object>(ctx: ServiceContext, sql: Prisma.Sql): Promise<Row[]> {
  const { rows } = await inReadTurn(ctx, () => ctx.env.database.pool.query<Row>(sql.text, sql.values));
  return rows;
}
