import type { z } from 'zod';
import { hashPasswordFor } from '../../crypto/password.ts';
import type { Prisma } from '../../db/client.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { newId } from '../../lib/ids.ts';
import { networkOf } from '../../lib/ip.ts';
import { requireDeveloper } from '../actor.ts';
import { messageFor } from '../application/message-for.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { Call, ServiceContext } from '../context.ts';
import { applicationNotFound, ServiceError } from '../errors.ts';
import { email, strictObject } from '../fields.ts';
import { once } from '../idempotency.ts';
import { applyToLocked } from '../license/apply-to-locked.ts';
import { decide } from '../license/decide.ts';
import { type LockedLicense, lockLicense } from '../license/lock.ts';
import { requireOwnApplication } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction, lockApplication } from '../transaction.ts';
import { endUserPassword, licenseKey, username } from './fields.ts';
import { type EndUserView, endUserSelect, endUserView } from './view.ts';

export const createEndUserInput = strictObject({
  username,
  password: endUserPassword,
  email: email.optional(),
  licenseKey: licenseKey.optional(),
});

/**
 * Creates an end user without a client session. An unused license becomes active; no HWID is bound.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND, LICENSE_REQUIRED, LICENSE_NOT_FOUND,
 *   APP_MISMATCH, BANNED, SUSPENDED, EXPIRED, USERNAME_TAKEN
 */
export async function createEndUser({
  ctx,
  input,
}: Call<{ applicationId: string; user: z.input<typeof createEndUserInput> }>): Promise<EndUserView> {
  const developerId = requireDeveloper(ctx.actor, 'users:write');
  const user = parseInput(createEndUserInput, input.user);
  const created = await once(ctx, async () => {
    const application = await ctx.env.caches.application(
      await requireOwnApplication(ctx, input.applicationId, 'users:write'),
    );
    if (application === null) throw applicationNotFound();
    if (user.licenseKey === undefined && application.requireLicenseToRegister) {
      throw new ServiceError('LICENSE_REQUIRED', messageFor(application, 'LICENSE_REQUIRED'));
    }
    const passwordHash = await hashPasswordFor(developerId, user.password, networkOf(ctx.client.ip));
    return developerTransaction(ctx, developerId, async (transaction, invalidations) => {
      if (!(await lockApplication(transaction, application.id))) throw applicationNotFound();
      const license = await takeLicense(ctx, transaction, invalidations, application, user.licenseKey);
      const row = await transaction.endUser.create({
        data: {
          id: newId(),
          applicationId: application.id,
          username: user.username,
          email: user.email ?? null,
          passwordHash,
          licenseId: license?.id ?? null,
        },
        select: endUserSelect,
      });
      if (license !== null) {
        // The developer's decision, whoever has used the license before.
        await transaction.license.update({
          where: { id: license.id },
          data: { ownerUserId: row.id },
          select: { id: true },
        });
      }
      await recordSecurityEvent(ctx, transaction, {
        developerId,
        applicationId: application.id,
        licenseId: license?.id ?? null,
        userId: row.id,
        event: 'user_created',
        metadata: { username: row.username },
        ...(license !== null && { eventData: { keyPrefix: license.keyPrefix } }),
      });
      return row;
    }).catch((error: unknown) => {
      if (!isUniqueViolation(error, 'username')) throw error;
      throw new ServiceError('USERNAME_TAKEN', messageFor(application, 'USERNAME_TAKEN'));
    });
  });
  return endUserView(created);
}

async function takeLicense(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  application: ApplicationSnapshot,
  key: string | undefined,
): Promise<LockedLicense | null> {
  if (key === undefined) return null;
  const license = await lockLicense(transaction, { licenseKey: key });
  const now = new Date(ctx.env.clock.now());
  const decision = decide({ application, client: null, license, hwid: null, now });
  if (decision.code === 'OK' && license !== null) {
    const { developerId } = application;
    const use = { developerId, effects: decision.effects, device: null, now };
    return applyToLocked(ctx, transaction, invalidations, license, use);
  }
  throw refusal(application, decision.code);
}

/** A verdict without client facts and HWID can only have these codes. */
function refusal(application: ApplicationSnapshot, code: string): ServiceError {
  switch (code) {
    case 'LICENSE_NOT_FOUND':
    case 'APP_MISMATCH':
    case 'BANNED':
    case 'SUSPENDED':
    case 'EXPIRED':
      return new ServiceError(code, messageFor(application, code));
    default:
      return new ServiceError('INTERNAL', `Unexpected verdict ${code} for a dashboard request.`);
  }
}
