import { type DeveloperActor, unauthenticated } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { credentialConditions } from '../credential.ts';
import { applicationNotFound } from '../errors.ts';
import { toApplicationId } from '../own-application.ts';

/**
 * Checks that a credential is still valid and that the application, if one is named, still belongs to its developer, in one
 * statement.
 * (A logout changes no row: a separate kind of change ends its streams.)
 * @returns false if the API key was changed since the request began: what it may do now is checked when the client connects
 *   again
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function requireMayFollow(
  ctx: ServiceContext,
  actor: DeveloperActor,
  applicationId?: string,
): Promise<boolean> {
  const now = ctx.env.clock.now();
  const { isGood, isUnchanged, values } = credentialConditions(actor, new Date(now));
  const id = applicationId === undefined ? null : toApplicationId(actor, applicationId);
  const place = `$${values.length + 2}`;
  const { rows } = await ctx.env.database.pool.query<{
    isGood: boolean;
    isUnchanged: boolean;
    isOwn: boolean;
  }>(
    `SELECT EXISTS (${isGood}) AS "isGood", EXISTS (${isUnchanged}) AS "isUnchanged",
            ${place}::uuid IS NULL
              OR EXISTS (SELECT FROM applications WHERE id = ${place}::uuid AND developer_id = $1::uuid) AS "isOwn"`,
    [actor.developerId, ...values, id],
  );
  const expired = actor.via === 'cookie' && actor.expiresAt <= now;
  if (expired || rows[0]?.isGood !== true) throw unauthenticated(actor.via);
  if (!rows[0].isOwn) throw applicationNotFound();
  return rows[0].isUnchanged;
}
