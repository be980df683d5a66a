import { verifyPassword } from '../../crypto/password.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';

/**
 * Makes sure that whoever changes the account knows its password, and not only holds a cookie or a key of it.
 * @throws {ServiceError} INVALID_CREDENTIALS
 */
export async function requirePassword(
  ctx: ServiceContext,
  developerId: string,
  password: string,
): Promise<void> {
  const developer = await ctx.env.database.prisma.developer.findUnique({
    where: { id: developerId },
    select: { passwordHash: true },
  });
  if (await verifyPassword(developer?.passwordHash ?? null, password)) return;
  throw new ServiceError('INVALID_CREDENTIALS', 'Wrong password.');
}
