import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { type DeveloperView, developerSelect } from './developer-view.ts';

/**
 * Returns the authenticated developer.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function me({ ctx }: { ctx: ServiceContext }): Promise<DeveloperView> {
  const id = requireDeveloper(ctx.actor);
  const developer = await ctx.env.database.prisma.developer.findUnique({
    where: { id },
    select: developerSelect,
  });
  if (developer === null) throw new ServiceError('UNAUTHENTICATED', 'This account has been deleted.');
  return developer;
}
