import { requireDeveloperActor, unauthenticated } from '../actor.ts';
import type { CallOf } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { anyPassword, strictObject } from '../fields.ts';
import { once } from '../idempotency.ts';
import { parseInput } from '../parse-input.ts';
import { confirmationSeconds } from '../require-confirmation.ts';
import { secondFactor } from '../second-factor/fields.ts';
import { spend } from '../second-factor/spend.ts';
import { changeInTransaction } from '../transaction.ts';
import { lockAccount } from './lock-account.ts';
import { proveOwner } from './prove-owner.ts';

export const confirmSessionInput = strictObject({ password: anyPassword, ...secondFactor });

/**
 * Confirms the caller's session with the password and, while TOTP is on, a code: for ten minutes, the session may do what
 * `requireConfirmation` guards.
 * @returns when the confirmation ends
 * @throws {ServiceError} UNAUTHENTICATED, FORBIDDEN with an API key or a cookie of the version before sessions,
 *   INVALID_CREDENTIALS, TOTP_REQUIRED, TOTP_INVALID, RATE_LIMITED
 */
export async function confirmSession({
  ctx,
  input: given,
}: CallOf<typeof confirmSessionInput>): Promise<Date> {
  const actor = requireDeveloperActor(ctx.actor, 'account:write');
  const input = parseInput(confirmSessionInput, given);
  if (actor.via === 'apiKey') throw new ServiceError('FORBIDDEN', 'An API key needs no confirmation.');
  const { developerId, sessionId } = actor;
  if (sessionId === null) {
    throw new ServiceError('FORBIDDEN', 'This session began before an upgrade of the service. Log in again.');
  }
  // A request that is repeated with its Idempotency-Key has used its code.
  return once(ctx, async () => {
    const { confirmedHash, proof } = await proveOwner(ctx, developerId, input);
    const confirmedAt = new Date(ctx.env.clock.now());
    return changeInTransaction(
      ctx,
      async (transaction) => {
        await lockAccount(ctx, transaction, developerId, confirmedHash);
        await spend(ctx, transaction, developerId, proof);
        const own = { where: { id: sessionId, developerId }, data: { confirmedAt } };
        const { count } = await transaction.accountSession.updateMany(own);
        if (count === 0) throw unauthenticated('cookie');
        return new Date(confirmedAt.getTime() + confirmationSeconds * 1000);
      },
      { requester: { developer: developerId } },
    );
  });
}
