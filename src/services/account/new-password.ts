import { randomInt } from 'node:crypto';
import { hashPassword } from '../../crypto/password.ts';

/**
 * The columns that a new password changes. The session version is random instead of incremented: after a restore from a
 * backup, increments would reach the same numbers again and revive cookies issued after that backup.
 * @param network the client's network, for the password queue
 */
export const withPassword = async (
  password: string,
  network: string,
): Promise<{ readonly passwordHash: string; readonly sessionVersion: number }> => ({
  passwordHash: await hashPassword(password, network),
  sessionVersion: randomInt(1, 2 ** 31),
});
