import { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { CallOf } from '../context.ts';
import { anyPassword, strictObject } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { changeAccount } from './change.ts';
import { requirePassword } from './require-password.ts';

export const setModeInput = strictObject({ mode: z.enum(['default', 'private']), password: anyPassword });

/**
 * Sets where license keys are generated: by the service (`default`) or in the browser (`private`).
 * @returns the updated mode
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, INVALID_CREDENTIALS
 */
export async function setMode({
  ctx,
  input: given,
}: CallOf<typeof setModeInput>): Promise<'default' | 'private'> {
  const developerId = requireDeveloper(ctx.actor, 'account:write');
  const input = parseInput(setModeInput, given);
  const confirmedHash = await requirePassword(ctx, developerId, input.password);
  const account = await changeAccount(ctx, developerId, {
    data: { keyCreationMode: input.mode },
    fields: ['keyCreationMode'],
    confirmedHash,
  });
  return account.keyCreationMode;
}
