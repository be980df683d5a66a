import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import { toApplicationId } from '../own-application.ts';
import { type ApplicationView, applicationSelect, applicationView } from './view.ts';

/**
 * Returns one of the caller's applications. Other developers' applications count as not found.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND
 */
export async function getApplication({ ctx, input }: Call<{ id: string }>): Promise<ApplicationView> {
  const row = await ctx.env.database.prisma.application.findUnique({
    where: {
      developerId: requireDeveloper(ctx.actor, 'applications:read'),
      id: toApplicationId(ctx.actor, input.id),
    },
    select: applicationSelect,
  });
  if (row === null) throw applicationNotFound();
  return applicationView(row);
}
