import { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { CallOf } from '../context.ts';
import { anyPassword, strictObject } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { changeAccount } from './change.ts';
import { requirePassword } from './require-password.ts';

export const setRequireConfirmationInput = strictObject({
  requireConfirmation: z.boolean(),
  password: anyPassword,
});

/**
 * Sets whether dangerous acts by a session need a confirmation although TOTP is off.
 * @returns the updated setting
 * @throws {ServiceError} UNAUTHENTICATED, CONFIRMATION_REQUIRED, INVALID_CREDENTIALS
 */
export async function setRequireConfirmation({
  ctx,
  input: given,
}: CallOf<typeof setRequireConfirmationInput>): Promise<boolean> {
  const developerId = requireDeveloper(ctx.actor, 'account:write');
  const input = parseInput(setRequireConfirmationInput, given);
  await requireConfirmation(ctx);
  const confirmedHash = await requirePassword(ctx, developerId, input.password);
  await changeAccount(ctx, developerId, {
    data: { requireConfirmation: input.requireConfirmation },
    fields: ['requireConfirmation'],
    confirmedHash,
  });
  return input.requireConfirmation;
}
