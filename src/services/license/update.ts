import { z } from 'zod';
import type { Prisma } from '../../db/client.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { strictObject, text } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { noteCiphertextB64 } from './blind-key.ts';
import { changeLicense } from './change.ts';
import { endsEarlier, latestExpiry } from './decide.ts';
import { tags } from './entitlements.ts';
import { columnsOfTerms, licenseTerms } from './terms.ts';
import { hasStarted } from './transitions.ts';
import type { LicenseView } from './view.ts';

/** An expiry in ISO 8601; within the years of the Unix epoch to 9999. */
const expiry = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 timestamp with a time zone' })
  .refine((text) => {
    const at = new Date(text);
    return at >= new Date(0) && at <= latestExpiry;
  }, 'must lie between 1970-01-01T00:00:00Z and 9999-12-31T23:59:59Z');

const { subscriptionTier: _, ...terms } = licenseTerms;

/** Members that a PATCH of a license takes; those that are left out stay as they are. */
export const updateLicenseInput = strictObject({
  ...terms,
  tags,
  /** Null removes it. */
  note: text({ min: 1, max: 1000 }).nullable(),
  /** The note, encrypted in the browser. Null removes it. */
  noteCiphertextB64: noteCiphertextB64.nullable(),
  /** Null: it never expires. */
  expiresAt: expiry.nullable(),
}).partial();

type LicenseChanges = z.output<typeof updateLicenseInput>;

const namesOf = (changes: LicenseChanges): string[] =>
  Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [] : [name]));

const changesInput = updateLicenseInput.refine(
  (changes) => namesOf(changes).length > 0,
  'must have at least one member',
);

/**
 * Changes the members that were sent; entitlements, metadata and tags as a whole. If the license then ends earlier than
 * before, its leases are revoked. Other changes reach programs with their next validation.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, LICENSE_NOT_FOUND; INVALID_TRANSITION for the expiry of a
 *   license whose term has not started; PRIVATE_MODE for a readable note of an account whose notes are encrypted
 */
export async function updateLicense({
  ctx,
  input,
}: Call<{ id: string; changes: z.input<typeof updateLicenseInput> }>): Promise<LicenseView> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  const changes = parseInput(changesInput, input.changes);
  const expiresAt = typeof changes.expiresAt === 'string' ? new Date(changes.expiresAt) : changes.expiresAt;
  const now = new Date(ctx.env.clock.now());
  return changeLicense(ctx, developerId, input.id, async (license, { transaction }) => {
    if (changes.expiresAt !== undefined && !hasStarted(license)) throw termNotStarted();
    if (typeof changes.note === 'string') await refusePrivate(transaction, developerId);
    return {
      data: {
        ...columnsOfTerms({ ...changes, expiresAt }),
        // What is kept of the term is now what is left until the new expiry.
        ...(expiresAt !== undefined && license.clockStoppedAt !== null && { clockStoppedAt: now }),
      },
      event: 'license_changed',
      metadata: { changed: namesOf(changes) },
      revokesLeases: endsEarlier(license, { ...changes, expiresAt }),
    };
  });
}

const termNotStarted = () =>
  new ServiceError(
    'INVALID_TRANSITION',
    "This license's term has not started: it has no expiry to change, but renewing makes the term longer. Nothing was changed.",
  );

/** In private mode, the service must not be able to read notes. */
async function refusePrivate(transaction: Prisma.TransactionClient, developerId: string): Promise<void> {
  const { keyCreationMode } = await transaction.developer.findUniqueOrThrow({
    where: { id: developerId },
    select: { keyCreationMode: true },
  });
  if (keyCreationMode === 'default') return;
  throw new ServiceError(
    'PRIVATE_MODE',
    'This account is in private mode: encrypt the note in the browser and send it as noteCiphertextB64.',
  );
}
