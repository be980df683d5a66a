import type { Prisma } from '../../db/client.ts';
import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import { toApplicationId } from './require-own.ts';

/**
 * One application of the developer who asks, with the columns and relations that the caller selects.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function findOwnApplication({
  ctx,
  input,
  query,
}: {
  ctx: ServiceContext;
  input: { id: string };
  query: Pick<Prisma.ApplicationFindUniqueArgs, 'select' | 'include'>;
}) {
  const where = { developerId: requireDeveloper(ctx.actor), id: toApplicationId(input.id) };
  const row = await ctx.env.database.prisma.application.findUnique({ ...query, where });
  if (row === null) throw applicationNotFound();
  return row;
}
