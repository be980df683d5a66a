import { type ApplicationId, isId } from '../lib/ids.ts';
import { requireDeveloper } from './actor.ts';
import type { ServiceContext } from './context.ts';
import { applicationNotFound } from './errors.ts';

/**
 * Parses an application id from the caller. A malformed id counts as not found.
 * @throws {ServiceError} APP_NOT_FOUND
 */
export function toApplicationId(text: string): ApplicationId {
  if (!isId(text)) throw applicationNotFound();
  return text as ApplicationId;
}

/**
 * Checks that the application belongs to the caller. Other developers' applications count as not found.
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
