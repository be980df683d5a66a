import { z } from 'zod';
import { sha256 } from '../../crypto/hash.ts';
import type { Prisma } from '../../db/client.ts';
import { newId } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { applicationNotFound, ServiceError } from '../errors.ts';
import { durationSeconds, id, subscriptionTier, text } from '../fields.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { insertLicenses, type NewLicense } from './insert.ts';
import { defaultMask, keyPrefix, licenseMask, maskWarning, mintKeys } from './mask.ts';

export const createLicensesInput = z.object({
  applicationId: id,
  amount: z.int().min(1).max(10_000),
  durationSeconds,
  note: text({ min: 1, max: 1000 }).optional(),
  mask: licenseMask.optional(),
  subscriptionTier: subscriptionTier.default(0),
});

type CreateLicensesInput = z.output<typeof createLicensesInput>;

/** A key that was just minted: the one time that it is seen. */
export interface MintedLicense extends Omit<NewLicense, 'keyHash' | 'note'> {
  readonly licenseKey: string;
}

export interface MintedLicenses {
  readonly keys: readonly MintedLicense[];
  readonly warning: string;
}

const shownOnce = 'These keys are shown only now and cannot be recovered. Store them before you go on.';

/**
 * Mints license keys. The database keeps their hashes and prefixes alone.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND, PRIVATE_MODE
 */
export async function createLicenses({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: CreateLicensesInput;
}): Promise<MintedLicenses> {
  const developerId = requireDeveloper(ctx.actor);
  const minted = await ctx.env.database.prisma.$transaction(async (transaction) => {
    const mask = await requireMintable(transaction, developerId, input);
    const keys = await mintUnique(transaction, mask, input, new Date(ctx.env.clock.now()));
    await recordSecurityEvent(ctx, transaction, {
      developerId,
      applicationId: input.applicationId,
      event: 'licenses_created',
      metadata: {
        amount: input.amount,
        durationSeconds: input.durationSeconds,
        subscriptionTier: input.subscriptionTier,
      },
    });
    return { mask, keys };
  }, timeLimit);
  // A client may have asked for one of these keys before it was minted, and the "no" be remembered.
  await ctx.env.caches.invalidateLicenses(minted.keys.map((key) => key.keyHash));
  return {
    keys: minted.keys.map(({ keyHash: _, note: __, ...key }) => key),
    warning: [shownOnce, maskWarning(minted.mask)].filter((part) => part !== null).join(' '),
  };
}

/** Ten thousand rows take well under a second; a busy server is given time. */
const timeLimit = { timeout: 30_000 };

/** Checks that the application is the developer's and that the server may mint; answers the mask to use. */
async function requireMintable(
  transaction: Prisma.TransactionClient,
  developerId: string,
  { applicationId, mask }: CreateLicensesInput,
): Promise<string> {
  // The lock keeps the application there until the commit, so that no key is minted for one being deleted.
  const [account] = await transaction.$queryRaw<{ licenseMask: string | null; keyCreationMode: string }[]>`
    SELECT developers.license_mask AS "licenseMask", developers.key_creation_mode::text AS "keyCreationMode"
    FROM applications JOIN developers ON developers.id = applications.developer_id
    WHERE applications.id = ${applicationId}::uuid AND applications.developer_id = ${developerId}::uuid
    FOR KEY SHARE OF applications`;
  if (account === undefined) throw applicationNotFound();
  if (account.keyCreationMode === 'private') {
    throw new ServiceError(
      'PRIVATE_MODE',
      'This account creates keys in private mode: make them in the browser and send their hashes to create-blind.',
    );
  }
  return mask ?? account.licenseMask ?? defaultMask;
}

/** Mints again in place of keys that exist already, which short masks can hit. */
async function mintUnique(
  transaction: Prisma.TransactionClient,
  mask: string,
  input: CreateLicensesInput,
  now: Date,
): Promise<(NewLicense & { licenseKey: string })[]> {
  const minted: (NewLicense & { licenseKey: string })[] = [];
  for (let attempt = 0; attempt < 5 && minted.length < input.amount; attempt++) {
    const candidates = mintKeys(mask, input.amount - minted.length).map((licenseKey) => ({
      id: newId(),
      licenseKey,
      keyHash: sha256(licenseKey),
      keyPrefix: keyPrefix(licenseKey, mask),
      durationSeconds: input.durationSeconds,
      subscriptionTier: input.subscriptionTier,
      note: input.note ?? null,
    }));
    const inserted = await insertLicenses(transaction, input.applicationId, candidates, now);
    minted.push(...candidates.filter((candidate) => inserted.has(candidate.id)));
  }
  if (minted.length < input.amount) {
    throw new ServiceError('VALIDATION_FAILED', 'The mask leaves too few unused keys.', {
      issues: [{ path: ['mask'], message: 'leaves too few unused keys: add more X' }],
    });
  }
  return minted;
}
