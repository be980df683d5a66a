import type { CallOf } from '../context.ts';
import { changeTotp, changeTotpInput } from './change-totp.ts';
import { removeTotp } from './remove-totp.ts';

export const disableTotpInput = changeTotpInput;

/**
 * Turns TOTP off: logins need only the password, and the recovery codes are gone.
 * @throws {ServiceError} see `changeTotp`
 */
export const disableTotp = (call: CallOf<typeof disableTotpInput>): Promise<void> =>
  changeTotp(call, (ctx, transaction, developerId) => removeTotp(ctx, transaction, developerId, false));
