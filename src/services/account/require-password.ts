import { verifyPassword } from '../../crypto/password.ts';
import { networkOf } from '../../lib/ip.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { recordFailedProof } from '../security-log/record-failed-proof.ts';

/**
 * Checks the account's password, for changes for which a cookie or API key is not enough.
 * @returns the verified hash; pass it to `lockAccount`, which checks that it is still current
 * @throws {ServiceError} INVALID_CREDENTIALS, which is logged
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
  if (developer !== null && matches) return developer.passwordHash;
  if (developer !== null) await recordFailedProof(ctx, developerId, 'developer_login_failed');
  throw wrongPassword();
}

export const wrongPassword = () => new ServiceError('INVALID_CREDENTIALS', 'Wrong password.');
