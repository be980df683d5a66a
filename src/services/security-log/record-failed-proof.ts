import type { ServiceContext } from '../context.ts';
import { developerTransaction } from '../transaction.ts';
import { someoneInDashboard } from './actor.ts';
import { recordSecurityEvent } from './record.ts';

/** A wrong password, or a wrong second factor. */
type FailedProof = 'developer_login_failed' | 'totp_failed';

/**
 * Records that a caller did not prove that the account is theirs, so that its owner can see guesses. The act is refused, so
 * this is a transaction of its own: it is no answer of a request with an Idempotency-Key, and it is not in the account's
 * queue, which anyone could fill with guesses.
 */
export function recordFailedProof(
  { idempotency: _, ...ctx }: ServiceContext,
  developerId: string,
  event: FailedProof,
): Promise<void> {
  return developerTransaction(
    ctx,
    developerId,
    (transaction) =>
      recordSecurityEvent(ctx, transaction, {
        developerId,
        applicationId: null,
        event,
        ...(event === 'totp_failed' && { code: 'TOTP_INVALID' }),
        ...(ctx.actor.type === 'anonymous' && { actor: someoneInDashboard(null, null) }),
      }),
    { requester: { developer: ctx.client.limitKey } },
  );
}
