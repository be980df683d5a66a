import type { Call, ServiceContext } from '../context.ts';
import type { ClientRequest } from '../license/client-facts.ts';
import type { ClientFacts } from '../license/decide.ts';
import { type LockedLicense, lockLicense } from '../license/lock.ts';
import { sessionExpired } from '../protocol-error.ts';
import { changeInTransaction, lockApplication } from '../transaction.ts';
import { claimLicense } from './claim-license.ts';
import { answerClientAuth, type ClientAuthOutcome, type Grant, Refusal } from './client-auth.ts';
import { lockEndUser } from './lock.ts';
import { startEndUserSession } from './session.ts';
import { useLicense } from './use-license.ts';
import { recordUserEvent } from './user-event.ts';

export interface UpgradeEndUserInput extends ClientRequest {
  readonly username: string;
  readonly licenseKey: string;
}

/**
 * Moves an end user to a license of a higher tier than their current one; no license counts as tier 0. The protocol
 * requires no password here: the license key authorizes the upgrade.
 * @throws {ProtocolError} SESSION_EXPIRED if the application was deleted
 */
export function upgradeEndUser({ ctx, input }: Call<UpgradeEndUserInput>): Promise<ClientAuthOutcome> {
  return answerClientAuth(ctx, 'user_upgraded', input, async (client) => {
    const { application, username } = input;
    const user = await ctx.env.database.prisma.endUser.findUnique({
      where: { applicationId_username: { applicationId: application.id, username } },
      select: { id: true, username: true, email: true },
    });
    if (user === null) throw new Refusal('USER_NOT_FOUND');
    return write(ctx, input, client, user);
  });
}

function write(
  ctx: ServiceContext,
  input: UpgradeEndUserInput,
  client: ClientFacts,
  user: Grant['user'],
): Promise<Grant> {
  const { application, hwid, licenseKey } = input;
  return changeInTransaction(ctx, async (transaction, invalidations) => {
    if (!(await lockApplication(transaction, application.id))) throw sessionExpired();
    const locked = await lockEndUser(transaction, application.id, user.id);
    if (locked === null) throw new Refusal('USER_NOT_FOUND');
    const current = await transaction.endUser.findUniqueOrThrow({
      where: { id: user.id },
      select: { license: { select: { subscriptionTier: true } } },
    });
    const currentTier = current.license?.subscriptionTier ?? 0;
    const license = await useLicense(ctx, transaction, invalidations, {
      ...input,
      client,
      license: await lockLicense(transaction, { licenseKey }),
      refuse: ({ subscriptionTier }: LockedLicense) =>
        subscriptionTier > currentTier ? null : new Refusal('TIER_NOT_HIGHER'),
    });
    await transaction.endUser.update({
      where: { id: user.id },
      data: {
        licenseId: license?.id ?? null,
        ...(ctx.client.ip !== null && { lastIp: ctx.client.ip }),
        ...(hwid !== null && { lastHwid: hwid }),
      },
      select: { id: true },
    });
    await claimLicense(transaction, { license, userId: user.id, hwid });
    await recordUserEvent(ctx, transaction, 'user.upgraded', { application, user, license });
    const session = await startEndUserSession(ctx, transaction, { endUserId: user.id, hwid });
    return { user, license, session };
  });
}
