import type { Prisma } from '../../db/client.ts';
import { requireDeveloper } from '../actor.ts';
import type { CallOf, ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { anyPassword, strictObject } from '../fields.ts';
import { once } from '../idempotency.ts';
import { parseInput } from '../parse-input.ts';
import { secondFactor } from '../second-factor/fields.ts';
import { spend } from '../second-factor/spend.ts';
import { changeInTransaction } from '../transaction.ts';
import { lockAccount } from './lock-account.ts';
import { proveOwner } from './prove-owner.ts';

export const changeTotpInput = strictObject({ password: anyPassword, ...secondFactor });

/**
 * Runs a change of an account whose TOTP is on, for a caller who proves the password and a code. So it needs no other
 * confirmation.
 * @param work gets the transaction, which has locked the account, and the developer's id
 * @throws {ServiceError} UNAUTHENTICATED, INVALID_CREDENTIALS, TOTP_REQUIRED, TOTP_INVALID, RATE_LIMITED, and
 *   INVALID_TRANSITION if TOTP is off
 */
export async function changeTotp<Result>(
  { ctx, input: given }: CallOf<typeof changeTotpInput>,
  work: (ctx: ServiceContext, transaction: Prisma.TransactionClient, developerId: string) => Promise<Result>,
): Promise<Result> {
  const developerId = requireDeveloper(ctx.actor, 'account:write');
  const input = parseInput(changeTotpInput, given);
  // A request that is repeated with its Idempotency-Key has used its code.
  return once(ctx, async () => {
    const { confirmedHash, proof } = await proveOwner(ctx, developerId, input);
    if (proof === null) throw new ServiceError('INVALID_TRANSITION', 'TOTP is off.');
    return changeInTransaction(
      ctx,
      async (transaction) => {
        await lockAccount(ctx, transaction, developerId, confirmedHash);
        await spend(ctx, transaction, developerId, proof);
        return work(ctx, transaction, developerId);
      },
      { requester: { developer: developerId } },
    );
  });
}
