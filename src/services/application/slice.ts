import type { ServiceContext } from '../context.ts';
import { type Slice, type Sliced, sliceArguments, toSliced } from '../slice.ts';

/**
 * A slice of a developer's applications, with the columns and relations that the caller selects beside the id. Whoever calls has
 * made sure that the developer is the one who asks.
 */
export async function sliceApplications({
  ctx,
  input,
  select,
}: {
  ctx: ServiceContext;
  input: { developerId: string; slice: Slice };
  select: { id: true };
}): Promise<Sliced<{ readonly id: string }>> {
  const { where, ...page } = sliceArguments(input.slice);
  const rows = await ctx.env.database.prisma.application.findMany({
    where: { developerId: input.developerId, ...where },
    ...page,
    select,
  });
  return toSliced(rows, input.slice);
}

/** How many applications a developer has. */
export function countApplications({
  ctx,
  input: { developerId },
}: {
  ctx: ServiceContext;
  input: { developerId: string };
}): Promise<number> {
  return ctx.env.database.prisma.application.count({ where: { developerId } });
}
