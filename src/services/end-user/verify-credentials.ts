import { verifyPassword } from '../../crypto/password.ts';
import { networkOf } from '../../lib/ip.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { ServiceContext } from '../context.ts';
import { type Grant, Refusal } from './client-auth.ts';

/** An end user's name and password, as client software sends them. */
export interface Credentials {
  readonly application: Pick<ApplicationSnapshot, 'id'>;
  readonly username: string;
  readonly password: string;
}

/**
 * Finds the end user whose password this is. An unknown username takes as much time as a wrong password. It takes no
 * transaction, because those must be short.
 * @throws {Refusal} INVALID_CREDENTIALS
 */
export async function verifyCredentials(
  ctx: ServiceContext,
  { application, username, password }: Credentials,
): Promise<Grant['user']> {
  const user = await ctx.env.database.prisma.endUser.findUnique({
    where: { applicationId_username: { applicationId: application.id, username } },
    select: { id: true, username: true, email: true, passwordHash: true },
  });
  const matches = await verifyPassword(user?.passwordHash ?? null, password, networkOf(ctx.client.ip));
  if (user === null || !matches) throw new Refusal('INVALID_CREDENTIALS');
  const { passwordHash: _, ...known } = user;
  return known;
}
