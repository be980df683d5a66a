import { verifyPassword } from '../../crypto/password.ts';
import { networkOf } from '../../lib/ip.ts';
import type { Call, ServiceContext } from '../context.ts';
import type { ClientRequest } from '../license/client-facts.ts';
import type { ClientFacts } from '../license/decide.ts';
import { lockLicense } from '../license/lock.ts';
import { sessionExpired } from '../protocol-error.ts';
import { changeInTransaction, lockApplication } from '../transaction.ts';
import { admitAgain, answerClientAuth, type ClientAuthOutcome, type Grant, Refusal } from './client-auth.ts';
import { lockEndUser } from './lock.ts';
import { startEndUserSession } from './session.ts';
import { useLicense } from './use-license.ts';

export interface LoginEndUserInput extends ClientRequest {
  readonly username: string;
  readonly password: string;
}

/**
 * Logs an end user in; a linked license must be valid. An unknown username takes as much time as a wrong password and has
 * the same result.
 * @throws {ProtocolError} SESSION_EXPIRED if the application was deleted
 */
export function loginEndUser({ ctx, input }: Call<LoginEndUserInput>): Promise<ClientAuthOutcome> {
  return answerClientAuth(ctx, 'user_logged_in', input, async () => {
    const { application, username } = input;
    const user = await ctx.env.database.prisma.endUser.findUnique({
      where: { applicationId_username: { applicationId: application.id, username } },
      select: { id: true, username: true, email: true, passwordHash: true },
    });
    const matches = await verifyPassword(
      user?.passwordHash ?? null,
      input.password,
      networkOf(ctx.client.ip),
    );
    if (user === null || !matches) throw new Refusal('INVALID_CREDENTIALS');
    const { passwordHash: _, ...known } = user;
    const again = await admitAgain(ctx, input);
    return write(ctx, again.request, again.client, known);
  });
}

function write(
  ctx: ServiceContext,
  input: LoginEndUserInput,
  client: ClientFacts,
  user: Grant['user'],
): Promise<Grant> {
  const { application, hwid } = input;
  return changeInTransaction(ctx, async (transaction, invalidations) => {
    if (!(await lockApplication(transaction, application.id))) throw sessionExpired();
    const locked = await lockEndUser(transaction, application.id, user.id);
    if (locked === null) throw new Refusal('INVALID_CREDENTIALS');
    const { licenseId } = locked;
    const found = licenseId === null ? 'not-asked' : await lockLicense(transaction, { licenseId });
    const license = await useLicense(ctx, transaction, invalidations, { ...input, client, license: found });
    await transaction.endUser.update({
      where: { id: user.id },
      data: {
        ...(ctx.client.ip !== null && { lastIp: ctx.client.ip }),
        ...(hwid !== null && { lastHwid: hwid }),
      },
      select: { id: true },
    });
    const session = await startEndUserSession(ctx, transaction, { endUserId: user.id, hwid });
    return { user, license, session };
  });
}
