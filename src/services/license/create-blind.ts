import { z } from 'zod';
import { type Sha256, sha256 } from '../../crypto/hash.ts';
import { newId } from '../../lib/ids.ts';
import { decodeBase64 } from '../../protocol/base64.ts';
import { requireDeveloper } from '../actor.ts';
import { requireOwnApplication } from '../application/require-own.ts';
import type { ServiceContext } from '../context.ts';
import { applicationNotFound, ServiceError } from '../errors.ts';
import { durationSeconds, id, subscriptionTier, text } from '../fields.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction, holdApplication } from '../transaction.ts';
import { insertLicenses, type NewLicense } from './insert.ts';
import { licenseMask } from './mask.ts';

const blindKey = z
  .object({
    /** SHA-256 of the key's UTF-8 text. */
    licenseKeyHash: z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal characters'),
    licenseKeyPrefix: text({ min: 1, max: 64 }),
    durationSeconds,
    /** The note, encrypted in the browser. */
    noteCiphertextB64: z
      .string()
      .max(8192)
      .refine((note) => decodeBase64(note) !== null, 'must be standard base64 with padding')
      .optional(),
    subscriptionTier: subscriptionTier.optional(),
  })
  .refine(({ licenseKeyHash, licenseKeyPrefix }) => !isHashOf(licenseKeyHash, licenseKeyPrefix), {
    path: ['licenseKeyPrefix'],
    message: 'must not be the whole key: the service is not to know it',
  });

function isHashOf(hexHash: string, text: string): boolean {
  return Buffer.from(sha256(text)).toString('hex') === hexHash.toLowerCase();
}

export const createBlindInput = z.object({
  applicationId: id,
  subscriptionTier: subscriptionTier.default(0),
  /** The pattern that the browser minted after; checked, as a weak one makes keys that can be guessed. */
  mask: licenseMask.optional(),
  keys: z.array(blindKey).min(1).max(10_000),
});

/** A license whose key the server has never seen. */
export type BlindLicense = Pick<NewLicense, 'id' | 'keyPrefix' | 'durationSeconds' | 'subscriptionTier'>;

/**
 * Stores licenses whose keys were minted by the client (private mode): all of them or none.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND, KEY_EXISTS naming the keys that exist already
 */
export async function createBlindLicenses({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: z.output<typeof createBlindInput>;
}): Promise<BlindLicense[]> {
  const developerId = requireDeveloper(ctx.actor);
  await requireOwnApplication(ctx, input.applicationId);
  const licenses = input.keys.map((key) => ({
    id: newId(),
    keyHash: new Uint8Array(Buffer.from(key.licenseKeyHash, 'hex')) as Sha256,
    keyPrefix: key.licenseKeyPrefix,
    durationSeconds: key.durationSeconds,
    subscriptionTier: key.subscriptionTier ?? input.subscriptionTier,
    note: null,
    noteCiphertextB64: key.noteCiphertextB64 ?? null,
  }));
  await developerTransaction(
    ctx,
    developerId,
    async (transaction, touched) => {
      if (!(await holdApplication(transaction, input.applicationId))) throw applicationNotFound();
      const now = new Date(ctx.env.clock.now());
      for (const { keyHash } of licenses) touched.license(keyHash);
      const inserted = await insertLicenses(transaction, input.applicationId, licenses, now);
      if (inserted.size < licenses.length) throw keysExist(licenses, inserted);
      await recordSecurityEvent(ctx, transaction, {
        developerId,
        applicationId: input.applicationId,
        event: 'licenses_created',
        metadata: { amount: licenses.length, blind: true },
      });
    },
    timeLimit,
  );
  return licenses.map(({ keyHash: _, note: __, noteCiphertextB64: ___, ...license }) => license);
}

const timeLimit = { timeout: 30_000 };

function keysExist(licenses: readonly NewLicense[], inserted: ReadonlySet<string>): ServiceError {
  const issues = licenses.flatMap((license, index) =>
    inserted.has(license.id)
      ? []
      : [{ path: ['keys', index, 'licenseKeyHash'], message: 'is the hash of a key that exists already' }],
  );
  return new ServiceError('KEY_EXISTS', `${issues.length} of these keys exist already; none was stored.`, {
    issues,
  });
}
