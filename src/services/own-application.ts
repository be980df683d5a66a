import { Prisma } from '../db/client.ts';
import { type ApplicationId, isId } from '../lib/ids.ts';
import { type Actor, applicationOf, requireAuthenticated, requireDeveloper } from './actor.ts';
import type { ServiceContext } from './context.ts';
import { applicationNotFound } from './errors.ts';
import type { Scope } from './scopes.ts';

/**
 * Parses an application id from the caller. A malformed id counts as not found, and so does any other application for a key
 * that is for one. Whether it is the developer's is left to check.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export function toApplicationId(actor: Actor, text: string): ApplicationId {
  const only = applicationOf(requireAuthenticated(actor));
  if (!isId(text) || (only !== null && text !== only)) throw applicationNotFound();
  return text as ApplicationId;
}

/**
 * Checks that the application is one that the caller may see. Other developers' applications count as not found.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND
 */
export async function requireOwnApplication(
  ctx: ServiceContext,
  text: string,
  ...needed: readonly [Scope, ...Scope[]]
): Promise<ApplicationId> {
  const developerId = requireDeveloper(ctx.actor, ...needed);
  const id = toApplicationId(ctx.actor, text);
  const found = await ctx.env.database.prisma.application.findUnique({
    where: { id, developerId },
    select: { id: true },
  });
  if (found === null) throw applicationNotFound();
  ctx.notes.applicationId = id;
  return id;
}

/** The condition for the rows of `applications` that a caller may see, in SQL. @throws {ServiceError} UNAUTHENTICATED */
export const isOwnApplication = (actor: Actor): Prisma.Sql =>
  isOwn(actor, 'applications.developer_id', 'applications.id');

/** Applications of a developer: one of them, or all without an id. */
export interface OwnApplications {
  readonly developerId: string;
  readonly id?: string;
}

/** The same for Prisma. @throws {ServiceError} UNAUTHENTICATED */
export function ownApplications(actor: Actor): OwnApplications {
  const developer = requireAuthenticated(actor);
  const id = applicationOf(developer);
  return { developerId: developer.developerId, ...(id !== null && { id }) };
}

/**
 * What remains of that condition where the rows are known to be the developer's.
 * @param applicationId SQL of the id of the application that a row belongs to
 * @throws {ServiceError} UNAUTHENTICATED
 */
export function onlyOwn(actor: Actor, applicationId: string): Prisma.Sql {
  const only = applicationOf(requireAuthenticated(actor));
  return only === null ? Prisma.sql`TRUE` : Prisma.sql`${Prisma.raw(applicationId)} = ${only}::uuid`;
}

/**
 * The condition for the rows of a table that a caller may see.
 * @param developerId SQL of the id of the developer who owns a row
 * @param applicationId SQL of the id of the application that a row belongs to; null for rows of the account
 * @throws {ServiceError} UNAUTHENTICATED
 */
export function isOwn(actor: Actor, developerId: string, applicationId: string | null): Prisma.Sql {
  const developer = requireAuthenticated(actor);
  const own = Prisma.sql`${Prisma.raw(developerId)} = ${developer.developerId}::uuid`;
  const only = applicationOf(developer);
  if (only === null) return own;
  if (applicationId === null) return Prisma.sql`FALSE`;
  return Prisma.sql`${own} AND ${Prisma.raw(applicationId)} = ${only}::uuid`;
}
