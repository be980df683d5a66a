import { ServiceError } from '../errors.ts';

/**
 * Checks that a key would not have expired already.
 * @throws {ServiceError} VALIDATION_FAILED
 */
export function requireFuture(expiresAt: Date | null, now: Date): void {
  if (expiresAt === null || expiresAt > now) return;
  const message = 'must lie in the future; to end a key, revoke it';
  throw new ServiceError('VALIDATION_FAILED', `The input is not valid: expiresAt: ${message}`, {
    issues: [{ path: ['expiresAt'], message }],
  });
}
