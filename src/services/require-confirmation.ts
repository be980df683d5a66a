import { requireAuthenticated } from './actor.ts';
import type { ServiceContext } from './context.ts';
import { ServiceError } from './errors.ts';

/** How long a confirmation with the password lasts. */
export const confirmationSeconds = 10 * 60;

/**
 * Requires, for a dangerous act by a session, that the password was confirmed in it within the last ten minutes
 * (`account/confirm-session.ts`). It is required while the account has TOTP on or has asked for it. API keys are not asked:
 * what they may do was decided when they were created.
 * @throws {ServiceError} UNAUTHENTICATED, CONFIRMATION_REQUIRED
 */
export async function requireConfirmation({ actor, env }: ServiceContext): Promise<void> {
  const { developerId, ...credential } = requireAuthenticated(actor);
  if (credential.via === 'apiKey') return;
  const { rows } = await env.database.pool.query<{ isMissing: boolean }>(
    `SELECT (totp_enabled_at IS NOT NULL OR require_confirmation) AND NOT EXISTS (
       SELECT FROM account_sessions
       WHERE account_sessions.id = $2 AND account_sessions.developer_id = developers.id
         AND confirmed_at > $3::timestamptz - $4 * interval '1 second'
         AND confirmed_at <= $3::timestamptz + interval '1 minute'
     ) AS "isMissing"
     FROM developers WHERE id = $1`,
    [developerId, credential.sessionId, new Date(env.clock.now()), confirmationSeconds],
  );
  if (rows[0]?.isMissing !== true) return;
  throw new ServiceError(
    'CONFIRMATION_REQUIRED',
    'Confirm this with your password first: POST /api/v1/auth/confirm, or the mutation confirmSession.',
  );
}
