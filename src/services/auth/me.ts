import { requireAuthenticated, requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { type DeveloperView, developerSelect } from './developer-view.ts';

/**
 * Returns the authenticated developer.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE
 */
export async function me({ ctx }: { ctx: ServiceContext }): Promise<DeveloperView> {
  requireDeveloper(ctx.actor, 'account:read');
  return findSelf(ctx);
}

/**
 * The same for an answer that shows only the id, which needs no scope: it leads to the applications that a key may list.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function findSelf(ctx: ServiceContext): Promise<DeveloperView> {
  const id = requireAuthenticated(ctx.actor).developerId;
  const developer = await ctx.env.database.prisma.developer.findUnique({
    where: { id },
    select: developerSelect,
  });
  if (developer === null) throw new ServiceError('UNAUTHENTICATED', 'This account has been deleted.');
  return developer;
}
