import { z } from 'zod';
import { newIds } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { CallOf } from '../context.ts';
import { durationSeconds, id, strictObject, subscriptionTier, text } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { addLicenses } from './add-licenses.ts';
import type { NewLicense } from './insert.ts';
import { licenseMask, maskWarning } from './mask.ts';
import { mintLicenses } from './mint.ts';
import { requireMintable } from './require-mintable.ts';

export const createLicensesInput = strictObject({
  applicationId: id,
  amount: z.int().min(1).max(10_000),
  durationSeconds,
  note: text({ min: 1, max: 1000 }).optional(),
  mask: licenseMask.optional(),
  subscriptionTier: subscriptionTier.default(0),
});

/** A new license with its key, the only place where the key appears. */
export interface MintedLicense extends Omit<NewLicense, 'keyHash' | 'note' | 'noteCiphertextB64'> {
  readonly licenseKey: string;
}

export interface MintedLicenses {
  readonly keys: readonly MintedLicense[];
  readonly warning: string;
}

const shownOnce = 'These keys are shown only now and cannot be recovered. Store them before you go on.';

/**
 * Creates licenses with new keys: all or none. The database stores only the keys' hashes and prefixes.
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND, PRIVATE_MODE, RATE_LIMITED
 */
export async function createLicenses({
  ctx,
  input: given,
}: CallOf<typeof createLicensesInput>): Promise<MintedLicenses> {
  const developerId = requireDeveloper(ctx.actor);
  const input = parseInput(createLicensesInput, given);
  const ids = newIds(input.amount);
  const minted = await addLicenses(ctx, developerId, {
    applicationId: input.applicationId,
    ids,
    noteCharacters: input.amount * (input.note?.length ?? 0),
    admit: (transaction) => requireMintable(transaction, developerId, input),
    add: async (mask, insert) => ({
      mask,
      keys: await mintLicenses({ ...input, ids, mask, note: input.note ?? null }, insert),
    }),
    record: async (transaction, invalidations, { keys }) => {
      invalidations.minted(input.applicationId, keys);
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
    },
  });
  return {
    keys: minted.keys.map(({ keyHash: _, note: __, noteCiphertextB64: ___, ...key }) => key),
    warning: [shownOnce, maskWarning(minted.mask)].filter((part) => part !== null).join(' '),
  };
}
