import type { Call, ServiceContext } from '../context.ts';
import type { ClientRequest } from '../license/client-facts.ts';
import type { ClientFacts } from '../license/decide.ts';
import { lockLicense } from '../license/lock.ts';
import { sessionExpired } from '../protocol-error.ts';
import { changeInTransaction, lockApplication } from '../transaction.ts';
import { claimLicense } from './claim-license.ts';
import { admitAgain, answerClientAuth, type ClientAuthOutcome, type Grant, Refusal } from './client-auth.ts';
import { lockEndUser } from './lock.ts';
import { startEndUserSession } from './session.ts';
import { useLicense } from './use-license.ts';
import { verifyCredentials } from './verify-credentials.ts';

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
    const user = await verifyCredentials(ctx, input);
    const again = await admitAgain(ctx, input);
    return write(ctx, again.request, again.client, user);
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
    await claimLicense(transaction, { license, userId: user.id, hwid });
    const session = await startEndUserSession(ctx, transaction, { endUserId: user.id, hwid });
    return { user, license, session };
  });
}
