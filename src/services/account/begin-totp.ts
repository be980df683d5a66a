import { sealTotpSecret } from '../../crypto/sealed-totp-secret.ts';
import { createTotpSecret, describeTotpSecret } from '../../crypto/totp.ts';
import { requireDeveloper } from '../actor.ts';
import type { CallOf } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { anyPassword, strictObject } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { changeInTransaction } from '../transaction.ts';
import { lockAccount } from './lock-account.ts';
import { requirePassword } from './require-password.ts';

export const beginTotpInput = strictObject({ password: anyPassword });

/** A new secret, which is shown only now. */
export interface BegunTotp {
  /** In base32, for apps without a camera. */
  readonly secret: string;
  /** The content of the QR code: `otpauth://totp/…`. */
  readonly uri: string;
}

/**
 * Begins to turn TOTP on: makes a secret, which counts from when a code of it is confirmed (`confirmTotp`). Until then,
 * another call replaces it.
 * @throws {ServiceError} UNAUTHENTICATED, INVALID_CREDENTIALS, INVALID_TRANSITION if TOTP is on
 */
export async function beginTotp({ ctx, input: given }: CallOf<typeof beginTotpInput>): Promise<BegunTotp> {
  const developerId = requireDeveloper(ctx.actor, 'account:write');
  const input = parseInput(beginTotpInput, given);
  const confirmedHash = await requirePassword(ctx, developerId, input.password);
  const secret = createTotpSecret();
  const totpSecretEncrypted = sealTotpSecret(ctx.env.keyring, developerId, secret);
  return changeInTransaction(
    ctx,
    async (transaction) => {
      await lockAccount(ctx, transaction, developerId, confirmedHash);
      const where = { id: developerId };
      const { count } = await transaction.developer.updateMany({
        where: { ...where, totpEnabledAt: null },
        data: { totpSecretEncrypted },
      });
      if (count === 0) throw totpIsOn();
      const { email } = await transaction.developer.findUniqueOrThrow({ where, select: { email: true } });
      return describeTotpSecret(secret, email);
    },
    { requester: { developer: developerId } },
  );
}

const totpIsOn = () =>
  new ServiceError('INVALID_TRANSITION', 'TOTP is on already. Turn it off before you set it up again.');
