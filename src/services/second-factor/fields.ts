import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import { text } from '../fields.ts';

/** A code of an authenticator app. */
export const totpCode = z.string().regex(/^[0-9]{6}$/, 'must be six digits');

/** The members of an input that prove the second factor. `recoveryCode` is used only without `totpCode`. */
export const secondFactor = {
  totpCode: totpCode.optional(),
  recoveryCode: text({ min: 1, max: 64 }).optional(),
} as const;

/** What an input has of these members. */
export interface GivenSecondFactor {
  readonly totpCode?: string | undefined;
  readonly recoveryCode?: string | undefined;
}

export const totpRequired = () =>
  new ServiceError(
    'TOTP_REQUIRED',
    'This account has TOTP on: send the code of the authenticator app as totpCode, or a recovery code as recoveryCode.',
  );

export const totpInvalid = () =>
  new ServiceError('TOTP_INVALID', 'The code is wrong, or was used before. Each code is good once.');
