import { requireDeveloper } from '../actor.ts';
import type { CallOf } from '../context.ts';
import { strictObject } from '../fields.ts';
import { licenseMask } from '../license/mask.ts';
import { parseInput } from '../parse-input.ts';
import { changeAccount } from './change.ts';

export const setMaskInput = strictObject({ mask: licenseMask.nullable() });

/**
 * Sets the account's default license key mask; null means the service's default.
 * @returns the updated mask
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE
 */
export async function setMask({ ctx, input: given }: CallOf<typeof setMaskInput>): Promise<string | null> {
  const developerId = requireDeveloper(ctx.actor, 'account:write');
  const input = parseInput(setMaskInput, given);
  const account = await changeAccount(ctx, developerId, {
    data: { licenseMask: input.mask },
    fields: ['licenseMask'],
    confirmedHash: null,
  });
  return account.licenseMask;
}
