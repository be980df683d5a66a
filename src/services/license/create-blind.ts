import { z } from 'zod';
import { type Sha256, sha256 } from '../../crypto/hash.ts';
import { newIds } from '../../lib/ids.ts';
import { decodeBase64 } from '../../protocol/base64.ts';
import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { applicationNotFound, ServiceError } from '../errors.ts';
import { durationSeconds, id, strictObject, subscriptionTier, text } from '../fields.ts';
import { requireOwnApplication } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { holdApplication } from '../transaction.ts';
import { addLicenses } from './add-licenses.ts';
import type { NewLicense } from './insert.ts';
import { licenseMask } from './mask.ts';

const blindKey = strictObject({
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
}).refine(({ licenseKeyHash, licenseKeyPrefix }) => !isHashOf(licenseKeyHash, licenseKeyPrefix), {
  path: ['licenseKeyPrefix'],
  message: 'must not be the whole key: the service is not to know it',
});

function isHashOf(hexHash: string, text: string): boolean {
  return Buffer.from(sha256(text)).toString('hex') === hexHash.toLowerCase();
}

export const createBlindInput = strictObject({
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
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND, RATE_LIMITED, KEY_EXISTS naming the keys that exist
 *   already
 */
export async function createBlindLicenses({
  ctx,
  input: given,
}: {
  ctx: ServiceContext;
  input: z.input<typeof createBlindInput>;
}): Promise<BlindLicense[]> {
  const developerId = requireDeveloper(ctx.actor);
  const input = parseInput(createBlindInput, given);
  await requireOwnApplication(ctx, input.applicationId);
  const ids = newIds(input.keys.length);
  const licenses = input.keys.map((key, index) => ({
    id: ids[index] ?? '',
    keyHash: new Uint8Array(Buffer.from(key.licenseKeyHash, 'hex')) as Sha256,
    keyPrefix: key.licenseKeyPrefix,
    durationSeconds: key.durationSeconds,
    subscriptionTier: key.subscriptionTier ?? input.subscriptionTier,
    note: null,
    noteCiphertextB64: key.noteCiphertextB64 ?? null,
  }));
  await addLicenses(ctx, developerId, {
    applicationId: input.applicationId,
    ids,
    noteCharacters: licenses.reduce(
      (sum, { noteCiphertextB64 }) => sum + (noteCiphertextB64?.length ?? 0),
      0,
    ),
    admit: async (transaction) => {
      if (!(await holdApplication(transaction, input.applicationId))) throw applicationNotFound();
    },
    add: async (_terms, insert) => {
      const inserted = await insert(licenses);
      if (inserted.size < licenses.length) throw keysExist(licenses, inserted);
    },
    record: async (transaction, invalidations) => {
      invalidations.minted(
        input.applicationId,
        licenses.map(({ keyHash }) => keyHash),
      );
      await recordSecurityEvent(ctx, transaction, {
        developerId,
        applicationId: input.applicationId,
        event: 'licenses_created',
        metadata: { amount: licenses.length, blind: true },
      });
    },
  });
  return licenses.map(({ keyHash: _, note: __, noteCiphertextB64: ___, ...license }) => license);
}

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
