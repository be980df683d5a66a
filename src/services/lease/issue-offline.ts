import { z } from 'zod';
import { isId } from '../../lib/ids.ts';
import { type DeviceRequest, readDeviceRequest } from '../../protocol/v2/device-request.ts';
import { requireDeveloper } from '../actor.ts';
import { leaseDays } from '../application/lease-days.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import type { Call, ServiceContext } from '../context.ts';
import { licenseNotFound } from '../errors.ts';
import { strictObject } from '../fields.ts';
import { once } from '../idempotency.ts';
import { lockOwnLicense } from '../license/lock-own.ts';
import { ownApplications } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { developerTransaction } from '../transaction.ts';
import { signLease } from './claims.ts';
import { recordOfflineLease } from './record-offline.ts';

export type { DeviceRequest };

/** The text that a device shows, as a person has copied it: with white space around it. */
export const deviceRequest = z
  .string()
  .max(200)
  .transform((text, context): DeviceRequest => {
    const request = readDeviceRequest(text.trim());
    if (request !== null) return request;
    context.addIssue({ code: 'custom', message: 'must be a device request: LKQ2. and 86 characters' });
    return z.NEVER;
  });

export const issueOfflineLeaseInput = strictObject({
  deviceRequest,
  /** Default: the application's setting. */
  days: leaseDays.optional(),
});

/** A lease as its text, which a person carries to the device. */
export interface IssuedOfflineLease {
  readonly lease: string;
  readonly expiresAt: Date;
  readonly licenseId: string;
}

/**
 * Issues a lease for a device without a network, from the text that the device shows. It is the developer's explicit
 * decision for one device, so it does not depend on the setting `leasesEnabled`, which is about what clients get on their
 * own.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND, APP_MISMATCH, BANNED, EXPIRED,
 *   HWID_MISMATCH, HWID_BANNED, LIMIT_REACHED
 */
export async function issueOfflineLease({
  ctx,
  input: { id, ...given },
}: Call<{ id: string } & z.input<typeof issueOfflineLeaseInput>>): Promise<IssuedOfflineLease> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  const { deviceRequest: request, days } = parseInput(issueOfflineLeaseInput, given);
  return once(ctx, async () => {
    // Before the transaction: on an embedded database, a cache that loads would wait for it.
    const application = await applicationOf(ctx, id);
    return developerTransaction(ctx, developerId, async (transaction, invalidations) => {
      await lockOwnLicense(ctx, transaction, invalidations, id);
      const issue = { application, licenseId: id, request, days };
      const { terms, recorded } = await recordOfflineLease(ctx, transaction, invalidations, issue);
      return { lease: await signLease(terms, recorded), expiresAt: terms.expiresAt, licenseId: id };
    });
  });
}

async function applicationOf(ctx: ServiceContext, licenseId: string): Promise<ApplicationSnapshot> {
  const { caches, database } = ctx.env;
  const where = { id: licenseId, application: ownApplications(ctx.actor) };
  const own = { where, select: { applicationId: true } };
  const license = isId(licenseId) ? await database.prisma.license.findUnique(own) : null;
  const application = license === null ? null : await caches.application(license.applicationId);
  if (application === null) throw licenseNotFound();
  return application;
}
