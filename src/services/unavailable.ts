import { PasswordsBusyError } from '../crypto/password.ts';
import { isDatabaseUnavailable } from '../db/errors.ts';
import { StoreUnavailableError } from '../ephemeral/store.ts';

/**
 * True for an error that says that the database or the ephemeral store is away, or that too much waits already: the
 * transports answer UNAVAILABLE, since trying again later may help.
 */
export function isUnavailable(error: unknown): boolean {
  return (
    error instanceof StoreUnavailableError ||
    error instanceof PasswordsBusyError ||
    isDatabaseUnavailable(error)
  );
}
