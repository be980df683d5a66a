import { hashPassword } from '../../crypto/password.ts';
import { newSessionVersion } from '../account-session/session-version.ts';

/**
 * The columns that a new password changes.
 * @param network the client's network, for the password queue
 */
export const withPassword = async (
  password: string,
  network: string,
): Promise<{ readonly passwordHash: string; readonly sessionVersion: number }> => ({
  passwordHash: await hashPassword(password, network),
  sessionVersion: newSessionVersion(),
});
