import { PasswordsBusyError } from '../crypto/password.ts';
import { PrivateKeyUnreadableError } from '../crypto/sealed-private-key.ts';
import { isDatabaseUnavailable } from '../db/errors.ts';
import { StoreUnavailableError } from '../ephemeral/store.ts';

/**
 * True for an error that says that the database or the ephemeral store is away, that too much waits already, or that
 * this instance lacks the secret which another has encrypted a key under: the transports answer UNAVAILABLE, since
 * trying again later may help.
 */
export function isUnavailable(error: unknown): boolean {
  return (
    error instanceof StoreUnavailableError ||
    error instanceof PasswordsBusyError ||
    error instanceof PrivateKeyUnreadableError ||
    isDatabaseUnavailable(error)
  );
}
