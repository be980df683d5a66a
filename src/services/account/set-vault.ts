import type { z } from 'zod';
import { base64Of } from '../../protocol/messages.ts';
import { requireDeveloper } from '../actor.ts';
import type { CallOf } from '../context.ts';
import { anyPassword, strictObject } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { requireConfirmation } from '../require-confirmation.ts';
import { changeAccount } from './change.ts';
import { requirePassword } from './require-password.ts';

export const setVaultInput = strictObject({
  /** Salt for the key that the browser derives from the vault's passphrase. */
  vaultSaltB64: base64Of(16, 64),
  /** A known text encrypted with that key, with which the browser detects a wrong passphrase. */
  vaultCheckB64: base64Of(16, 1024),
  password: anyPassword,
});

/** The vault check fields. The service never receives the passphrase or the key. */
export type Vault = Pick<z.output<typeof setVaultInput>, 'vaultSaltB64' | 'vaultCheckB64'>;

/**
 * Stores the fields that a browser needs to unlock private-mode notes.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, CONFIRMATION_REQUIRED, INVALID_CREDENTIALS
 */
export async function setVault({ ctx, input: given }: CallOf<typeof setVaultInput>): Promise<Vault> {
  const developerId = requireDeveloper(ctx.actor, 'account:write');
  const input = parseInput(setVaultInput, given);
  await requireConfirmation(ctx);
  const confirmedHash = await requirePassword(ctx, developerId, input.password);
  const { vaultSaltB64, vaultCheckB64 } = input;
  await changeAccount(ctx, developerId, {
    data: { vaultSaltB64, vaultCheckB64 },
    fields: ['vault'],
    confirmedHash,
  });
  return { vaultSaltB64, vaultCheckB64 };
}
