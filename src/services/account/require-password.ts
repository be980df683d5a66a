import { verifyPassword } from '../../crypto/password.ts';
import { networkOf } from '../../lib/ip.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';

/**
 * Makes sure that whoever changes the account knows its password, and not only holds a cookie or a key of it.
 * @returns the hash that the password fits; `holdAccount` makes sure that it is still the account's
 * @throws {ServiceError} INVALID_CREDENTIALS
 */
export async function requirePassword(
  ctx: ServiceContext,
  developerId: string,
  password: string,
): Promise<string> {
  const developer = await ctx.env.database.prisma.developer.findUnique({
    where: { id: developerId },
    select: { passwordHash: true },
  });
  const matches = await verifyPassword(developer?.passwordHash ?? null, password, networkOf(ctx.client.ip));
  if (developer === null || !matches) throw wrongPassword();
  return developer.passwordHash;
}

export const wrongPassword = () => new ServiceError('INVALID_CREDENTIALS', 'Wrong password.');
