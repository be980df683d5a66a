import { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { durationSeconds, id, subscriptionTier, text } from '../fields.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import type { NewLicense } from './insert.ts';
import { licenseMask, maskWarning } from './mask.ts';
import { mintLicenses } from './mint.ts';
import { requireMintable } from './require-mintable.ts';

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
export interface MintedLicense extends Omit<NewLicense, 'keyHash' | 'note' | 'noteCiphertextB64'> {
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
  const minted = await developerTransaction(
    ctx,
    developerId,
    async (transaction, touched) => {
      const mask = await requireMintable(transaction, developerId, input);
      const order = { ...input, mask, note: input.note ?? null };
      const keys = await mintLicenses(transaction, order, new Date(ctx.env.clock.now()));
      // A client may have asked for one of these keys before it was minted, and the "no" be remembered.
      for (const { keyHash } of keys) touched.license(keyHash);
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
    },
    timeLimit,
  );
  return {
    keys: minted.keys.map(({ keyHash: _, note: __, noteCiphertextB64: ___, ...key }) => key),
    warning: [shownOnce, maskWarning(minted.mask)].filter((part) => part !== null).join(' '),
  };
}

/** Ten thousand rows take well under a second; a busy server is given time. */
const timeLimit = { timeout: 30_000 };
