import type { CallOf } from '../context.ts';
import { replaceRecoveryCodes } from '../second-factor/recovery-codes.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { changeTotp, changeTotpInput } from './change-totp.ts';

export const renewRecoveryCodesInput = changeTotpInput;

/**
 * Replaces the recovery codes: those before are no longer good.
 * @returns ten codes, which are shown once
 * @throws {ServiceError} see `changeTotp`
 */
export const renewRecoveryCodes = (
  call: CallOf<typeof renewRecoveryCodesInput>,
): Promise<readonly string[]> =>
  changeTotp(call, async (ctx, transaction, developerId) => {
    const codes = await replaceRecoveryCodes(transaction, developerId);
    const entry = { developerId, applicationId: null, event: 'recovery_codes_renewed' } as const;
    await recordSecurityEvent(ctx, transaction, entry);
    return codes;
  });
