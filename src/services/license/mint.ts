import { sha256 } from '../../crypto/hash.ts';
import { ServiceError } from '../errors.ts';
import type { Insert } from './addition.ts';
import type { NewLicense } from './insert.ts';
import { keyPrefix, mintKeys } from './mask.ts';
import { durationOf, type MintTerms } from './mint-terms.ts';

/** A new license with its plaintext key, which is not stored. */
export interface MintedRow extends NewLicense {
  readonly licenseKey: string;
}

/** The licenses to mint. */
export interface MintOrder {
  /** The ids of the licenses. */
  readonly ids: readonly string[];
  readonly mask: string;
  readonly terms: MintTerms;
  readonly note: string | null;
}

/** Attempts after the first replace keys that already exist. */
const maxAttempts = 5;

/**
 * Generates keys and inserts their licenses. Keys that already exist, which can happen with short masks, are replaced.
 * @throws {ServiceError} VALIDATION_FAILED if the mask leaves too few unused keys
 */
export async function mintLicenses(order: MintOrder, insert: Insert): Promise<MintedRow[]> {
  const { mask, terms, note } = order;
  const { subscriptionTier } = terms;
  const durationSeconds = durationOf(terms);
  const minted: MintedRow[] = [];
  let ids = order.ids;
  for (let attempt = 0; attempt < maxAttempts && ids.length > 0; attempt++) {
    const candidates = mintKeys(mask, ids.length).map((licenseKey, index) => ({
      id: ids[index] ?? '',
      licenseKey,
      keyHash: sha256(licenseKey),
      keyPrefix: keyPrefix(licenseKey, mask),
      durationSeconds,
      subscriptionTier,
      note,
      noteCiphertextB64: null,
    }));
    const inserted = await insert(candidates, terms);
    minted.push(...candidates.filter((candidate) => inserted.has(candidate.id)));
    ids = ids.filter((id) => !inserted.has(id));
  }
  if (ids.length > 0) {
    throw new ServiceError('VALIDATION_FAILED', 'The mask leaves too few unused keys.', {
      issues: [{ path: ['mask'], message: 'leaves too few unused keys: add more X' }],
    });
  }
  return minted;
}
