import { openTotpSecret } from '../../crypto/sealed-totp-secret.ts';
import { stepOfTotpCode } from '../../crypto/totp.ts';
import { requireDeveloper } from '../actor.ts';
import type { CallOf, ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { strictObject } from '../fields.ts';
import { once } from '../idempotency.ts';
import { parseInput } from '../parse-input.ts';
import { totpCode, totpInvalid } from '../second-factor/fields.ts';
import { replaceRecoveryCodes } from '../second-factor/recovery-codes.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { changeInTransaction } from '../transaction.ts';
import { lockAccount } from './lock-account.ts';

export const confirmTotpInput = strictObject({ totpCode });

/**
 * Turns TOTP on, with a code of the secret that `beginTotp` made. From now on, logins ask for a code. Confirmations that
 * were given without a code end.
 * @returns ten recovery codes, which are shown once
 * @throws {ServiceError} UNAUTHENTICATED, TOTP_INVALID, INVALID_TRANSITION if there is no secret to confirm
 */
export async function confirmTotp({
  ctx,
  input: given,
}: CallOf<typeof confirmTotpInput>): Promise<readonly string[]> {
  const developerId = requireDeveloper(ctx.actor, 'account:write');
  const input = parseInput(confirmTotpInput, given);
  // A request that is repeated with its Idempotency-Key has used its code.
  return once(ctx, async () => {
    const { sealed, step } = await checkNewCode(ctx, developerId, input.totpCode);
    return changeInTransaction(
      ctx,
      async (transaction) => {
        await lockAccount(ctx, transaction, developerId, null);
        const { count } = await transaction.developer.updateMany({
          where: { id: developerId, totpEnabledAt: null, totpSecretEncrypted: sealed },
          data: {
            totpEnabledAt: new Date(ctx.env.clock.now()),
            totpLastStep: step,
            totpAttempts: 0,
            totpAttemptsSince: null,
          },
        });
        if (count === 0) throw nothingBegun();
        await transaction.accountSession.updateMany({ where: { developerId }, data: { confirmedAt: null } });
        const codes = await replaceRecoveryCodes(transaction, developerId);
        const entry = { developerId, applicationId: null, event: 'totp_enabled' } as const;
        await recordSecurityEvent(ctx, transaction, entry);
        return codes;
      },
      { requester: { developer: developerId } },
    );
  });
}

/** Checks a code of the secret that is not confirmed yet. There is nothing to guess: the caller was shown the secret. */
async function checkNewCode({ env }: ServiceContext, developerId: string, code: string) {
  const found = await env.database.prisma.developer.findUnique({
    where: { id: developerId, totpEnabledAt: null },
    select: { totpSecretEncrypted: true },
  });
  const sealed = found?.totpSecretEncrypted ?? null;
  if (sealed === null) throw nothingBegun();
  const opened = openTotpSecret(env.keyring, developerId, sealed);
  // The master secret was replaced meanwhile.
  if (opened === null) throw nothingBegun();
  const step = stepOfTotpCode(opened.secret, code, env.clock.now());
  if (step === null) throw totpInvalid();
  return { sealed, step };
}

const nothingBegun = () =>
  new ServiceError(
    'INVALID_TRANSITION',
    'There is no secret to confirm: TOTP is on already, or begin first.',
  );
