import { type ApplicationId, isId } from '../lib/ids.ts';
import { requireDeveloper } from './actor.ts';
import type { ServiceContext } from './context.ts';
import { applicationNotFound } from './errors.ts';

/**
 * An application's id as a caller wrote it. Text that no id can be names no application.
 * @throws {ServiceError} APP_NOT_FOUND
 */
export function toApplicationId(text: string): ApplicationId {
  if (!isId(text)) throw applicationNotFound();
  return text as ApplicationId;
}

/**
 * Makes sure that the application is the asking developer's. Another developer's is answered as one that does not
 * exist.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function requireOwnApplication(ctx: ServiceContext, text: string): Promise<ApplicationId> {
  const developerId = requireDeveloper(ctx.actor);
  const id = toApplicationId(text);
  const found = await ctx.env.database.prisma.application.findUnique({
    where: { id, developerId },
    select: { id: true },
  });
  if (found === null) throw applicationNotFound();
  ctx.notes.applicationId = id;
  return id;
}
