import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { type ApplicationView, applicationSelect, applicationView } from './view.ts';

/**
 * All applications of the developer who asks, newest first.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function listApplications({ ctx }: { ctx: ServiceContext }): Promise<ApplicationView[]> {
  const rows = await ctx.env.database.prisma.application.findMany({
    where: { developerId: requireDeveloper(ctx.actor) },
    orderBy: { id: 'desc' },
    select: applicationSelect,
  });
  return rows.map(applicationView);
}
