import { type DeveloperActor, unauthenticated } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import { toApplicationId } from '../own-application.ts';

/**
 * Checks that a credential is still valid and that the application still belongs to its developer, in one statement.
 * (A logout changes no row: a separate kind of change ends its streams.)
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function requireMayFollow(
  ctx: ServiceContext,
  actor: DeveloperActor,
  applicationId: string,
): Promise<void> {
  const { text, value } = credentialCondition(actor);
  const id = toApplicationId(applicationId);
  const { rows } = await ctx.env.database.pool.query<{ isGood: boolean; isOwn: boolean }>(
    `SELECT EXISTS (${text}) AS "isGood",
            EXISTS (SELECT FROM applications WHERE id = $2 AND developer_id = $1) AS "isOwn"`,
    [actor.developerId, id, value],
  );
  const expired = actor.via === 'cookie' && actor.expiresAt <= ctx.env.clock.now();
  if (expired || rows[0]?.isGood !== true) throw unauthenticated(actor.via);
  if (!rows[0].isOwn) throw applicationNotFound();
}

function credentialCondition(actor: DeveloperActor): { text: string; value: string | number } {
  switch (actor.via) {
    case 'cookie':
      return {
        text: 'SELECT FROM developers WHERE id = $1 AND session_version = $3',
        value: actor.sessionVersion,
      };
    case 'apiKey':
      return {
        text: 'SELECT FROM api_keys WHERE id = $3 AND developer_id = $1 AND revoked_at IS NULL',
        value: actor.apiKeyId,
      };
  }
}
