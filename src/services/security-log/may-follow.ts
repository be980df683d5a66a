import { type ApiKeyActor, type DeveloperActor, unauthenticated } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
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
  const { rows } = await ctx.env.database.pool.query<{
    isGood: boolean;
    isUnchanged: boolean;
    isOwn: boolean;
  }>(
    `SELECT EXISTS (${isGood}) AS "isGood", EXISTS (${isUnchanged}) AS "isUnchanged",
            $2::uuid IS NULL OR EXISTS (SELECT FROM applications WHERE id = $2 AND developer_id = $1) AS "isOwn"`,
    [actor.developerId, id, ...values],
  );
  const expired = actor.via === 'cookie' && actor.expiresAt <= now;
  if (expired || rows[0]?.isGood !== true) throw unauthenticated(actor.via);
  if (!rows[0].isOwn) throw applicationNotFound();
  return rows[0].isUnchanged;
}

interface Conditions {
  /** Finds a row while the credential is valid. */
  readonly isGood: string;
  /** Finds a row while it may do what it could when the request began. */
  readonly isUnchanged: string;
  readonly values: readonly unknown[];
}

function credentialConditions(actor: DeveloperActor, now: Date): Conditions {
  switch (actor.via) {
    case 'cookie':
      return {
        isGood:
          actor.sessionId === null
            ? 'SELECT FROM developers WHERE id = $1 AND session_version = $3'
            : `SELECT FROM developers JOIN account_sessions USING (session_version)
               WHERE developers.id = $1 AND account_sessions.id = $3 AND developer_id = $1`,
        isUnchanged: 'SELECT',
        values: [actor.sessionId ?? actor.sessionVersion],
      };
    case 'apiKey':
      return keyConditions(actor, now);
  }
}

const keyConditions = ({ apiKeyId, keyHash, scopes, allowedCidrs }: ApiKeyActor, now: Date): Conditions => ({
  isGood: `SELECT FROM api_keys WHERE id = $3 AND developer_id = $1 AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > $5)
    AND (key_hash = $4 OR previous_key_hash = $4 AND previous_valid_until > $5)`,
  isUnchanged: 'SELECT FROM api_keys WHERE id = $3 AND scopes = $6 AND allowed_cidrs = $7',
  values: [apiKeyId, keyHash, now, scopes, allowedCidrs],
});
