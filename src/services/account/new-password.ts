import { randomInt } from 'node:crypto';
import { hashPassword } from '../../crypto/password.ts';

/**
 * What a new password changes of a developer's row. The version is a number that no older cookie has: not even one of
 * after the backup that the database was restored from, whose number a count would come to again.
 * @param network whose turn to hash it is
 */
export const withPassword = async (
  password: string,
  network: string,
): Promise<{ readonly passwordHash: string; readonly sessionVersion: number }> => ({
  passwordHash: await hashPassword(password, network),
  sessionVersion: randomInt(1, 2 ** 31),
});
