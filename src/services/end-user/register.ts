import { sha256 } from '../../crypto/hash.ts';
import { hashPassword } from '../../crypto/password.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { newId } from '../../lib/ids.ts';
import { networkOf } from '../../lib/ip.ts';
import type { Call, ServiceContext } from '../context.ts';
import { refusalMembers } from '../license/answer-members.ts';
import type { ClientRequest } from '../license/client-facts.ts';
import { type ClientFacts, decide } from '../license/decide.ts';
import { findLicense } from '../license/judge.ts';
import { lockLicense } from '../license/lock.ts';
import { sessionExpired } from '../protocol-error.ts';
import { changeInTransaction, lockApplication } from '../transaction.ts';
import { claimLicense } from './claim-license.ts';
import { admitAgain, answerClientAuth, type ClientAuthOutcome, type Grant, Refusal } from './client-auth.ts';
import { startEndUserSession } from './session.ts';
import { useLicense } from './use-license.ts';
import { recordUserEvent } from './user-event.ts';

export interface RegisterEndUserInput extends ClientRequest {
  readonly username: string;
  readonly password: string;
  readonly email: string | null;
  readonly licenseKey: string | null;
}

/**
 * Registers an end user from client software and logs them in. The license is checked before the username, so that clients
 * without a key cannot find out which usernames exist.
 * @throws {ProtocolError} SESSION_EXPIRED if the application was deleted
 */
export function registerEndUser({ ctx, input }: Call<RegisterEndUserInput>): Promise<ClientAuthOutcome> {
  return answerClientAuth(ctx, 'user_registered', input, async (client) => {
    await refuseEarly(ctx, input, client);
    // Outside the transaction, which must be short.
    const passwordHash = await hashPassword(input.password, networkOf(ctx.client.ip));
    const again = await admitAgain(ctx, input);
    await refuseEarly(ctx, again.request, again.client);
    return write(ctx, again.request, again.client, passwordHash);
  });
}

/** Checks that need no password hash. They run before hashing and again after it; the transaction then checks the license once more. */
async function refuseEarly(
  ctx: ServiceContext,
  input: RegisterEndUserInput,
  client: ClientFacts,
): Promise<void> {
  const { application, licenseKey } = input;
  if (!application.registrationEnabled) throw new Refusal('REGISTER_DISABLED');
  if (licenseKey === null) {
    if (application.requireLicenseToRegister) throw new Refusal('LICENSE_REQUIRED');
    return;
  }
  const license = await findLicense(ctx, sha256(licenseKey));
  const now = new Date(ctx.env.clock.now());
  const decision = decide({ ...input, client, license, now });
  if (decision.code !== 'OK') throw new Refusal(decision.code, refusalMembers(decision));
}

function write(
  ctx: ServiceContext,
  input: RegisterEndUserInput,
  client: ClientFacts,
  passwordHash: string,
): Promise<Grant> {
  const { application, licenseKey, hwid } = input;
  return changeInTransaction(ctx, async (transaction, invalidations) => {
    if (!(await lockApplication(transaction, application.id))) throw sessionExpired();
    const found = licenseKey === null ? 'not-asked' : await lockLicense(transaction, { licenseKey });
    const license = await useLicense(ctx, transaction, invalidations, { ...input, client, license: found });
    const user = await transaction.endUser.create({
      data: {
        id: newId(),
        applicationId: application.id,
        username: input.username,
        email: input.email,
        passwordHash,
        licenseId: license?.id ?? null,
        lastIp: ctx.client.ip,
        lastHwid: hwid,
      },
      select: { id: true, username: true, email: true },
    });
    await claimLicense(transaction, { license, userId: user.id, hwid });
    await recordUserEvent(ctx, transaction, 'user.registered', { application, user, license });
    const session = await startEndUserSession(ctx, transaction, { endUserId: user.id, hwid });
    return { user, license, session };
  }).catch((error: unknown) => {
    throw isUniqueViolation(error, 'username') ? new Refusal('USERNAME_TAKEN') : error;
  });
}
