import { z } from 'zod';
import { newIds } from '../../lib/ids.ts';
import { requireDeveloper } from '../actor.ts';
import type { CallOf } from '../context.ts';
import { durationSeconds, id, strictObject, text } from '../fields.ts';
import { toApplicationId } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { addLicenses } from './add-licenses.ts';
import { mintEventData } from './event-data.ts';
import type { NewLicense } from './insert.ts';
import { licenseMask, maskWarning } from './mask.ts';
import { mintLicenses } from './mint.ts';
import {
  durationOf,
  expectedCharacters,
  mintTermsInput,
  readMintTerms,
  requireStorable,
  saysDuration,
  withoutDuration,
} from './mint-terms.ts';
import { requireMintable } from './require-mintable.ts';

export const createLicensesInput = strictObject({
  applicationId: id,
  amount: z.int().min(1).max(10_000),
  /** Required without a policy. */
  durationSeconds: durationSeconds.optional(),
  note: text({ min: 1, max: 1000 }).optional(),
  mask: licenseMask.optional(),
  ...mintTermsInput,
}).refine(saysDuration, withoutDuration);

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
 * Creates licenses with new keys: all or none. The database stores only the keys' hashes and prefixes. What the input does
 * not say is copied from the policy, if it names one.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND, POLICY_NOT_FOUND, PRIVATE_MODE, RATE_LIMITED
 */
export async function createLicenses({
  ctx,
  input: given,
}: CallOf<typeof createLicensesInput>): Promise<MintedLicenses> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:mint');
  const input = parseInput(createLicensesInput, given);
  const { applicationId: named, amount, note = null, mask, ...givenTerms } = input;
  const applicationId = toApplicationId(ctx.actor, named);
  const ids = newIds(amount);
  return addLicenses(ctx, developerId, {
    applicationId,
    ids,
    characters: async () =>
      amount * ((note?.length ?? 0) + (await expectedCharacters(ctx, applicationId, givenTerms))),
    admit: async (transaction) => {
      const accountMask = await requireMintable(transaction, developerId, applicationId);
      const terms = await readMintTerms(transaction, applicationId, givenTerms);
      requireStorable(terms, amount, 'amount');
      return { terms, mask: mask ?? terms.keyMask ?? accountMask };
    },
    add: async ({ terms, mask }, insert) => ({
      terms,
      mask,
      keys: await mintLicenses({ ids, mask, terms, note }, insert),
    }),
    record: async (transaction, invalidations, { terms, keys }) => {
      invalidations.minted(applicationId, keys);
      await recordSecurityEvent(ctx, transaction, {
        developerId,
        applicationId,
        event: 'licenses_created',
        metadata: {
          amount,
          durationSeconds: durationOf(terms),
          subscriptionTier: terms.subscriptionTier,
          ...(terms.policyId !== null && { policyId: terms.policyId }),
        },
        eventData: mintEventData(keys),
      });
    },
    answer: ({ keys, mask }) => ({
      keys: keys.map(({ keyHash: _, note: __, noteCiphertextB64: ___, ...key }) => key),
      warning: [shownOnce, maskWarning(mask)].filter((part) => part !== null).join(' '),
    }),
  });
}
