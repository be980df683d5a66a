import { isId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { sessionNotFound } from '../errors.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';

/**
 * Ends a session of the dashboard, which may be the caller's: its cookie is refused on all instances, and its open streams
 * end.
 * @throws {ServiceError} UNAUTHENTICATED, SESSION_NOT_FOUND
 */
export async function revokeSession({ ctx, input }: Call<{ id: string }>): Promise<void> {
  const developerId = requireDeveloper(ctx.actor, 'account:write');
  if (!isId(input.id)) throw sessionNotFound();
  await developerTransaction(ctx, developerId, async (transaction, invalidations) => {
    const { count } = await transaction.accountSession.deleteMany({ where: { id: input.id, developerId } });
    if (count === 0) throw sessionNotFound();
    invalidations.credentials(developerId);
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: null,
      event: 'sessions_revoked',
      metadata: { revoked: count },
    });
  });
}
