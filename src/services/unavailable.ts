import { PasswordsBusyError } from '../crypto/password.ts';
import { PrivateKeyUnreadableError } from '../crypto/sealed-private-key.ts';
import { isDatabaseUnavailable } from '../db/errors.ts';
import { StoreUnavailableError } from '../ephemeral/store.ts';
import { ServiceError } from './errors.ts';

/**
 * Whether an error means that the database or the ephemeral store is unavailable, that a queue is full, or that this
 * instance lacks the master secret with which another instance encrypted a key. Transports respond with UNAVAILABLE,
 * because a retry may succeed.
 */
export function isUnavailable(error: unknown): boolean {
  return (
    error instanceof StoreUnavailableError ||
    error instanceof PasswordsBusyError ||
    error instanceof PrivateKeyUnreadableError ||
    isDatabaseUnavailable(error)
  );
}

/** The same, or what a verb has already expressed as UNAVAILABLE. */
export const saysUnavailable = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof ServiceError && error.code === 'UNAVAILABLE');
