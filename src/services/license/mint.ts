import { sha256 } from '../../crypto/hash.ts';
import { ServiceError } from '../errors.ts';
import type { Insert } from './addition.ts';
import type { NewLicense } from './insert.ts';
import { keyPrefix, mintKeys } from './mask.ts';

/** A license that was just inserted, and its key in the clear: the one time that it is held. */
export interface MintedRow extends NewLicense {
  readonly licenseKey: string;
}

/** What to mint. */
export interface MintOrder {
  /** The id of each license to mint. */
  readonly ids: readonly string[];
  readonly mask: string;
  readonly durationSeconds: number;
  readonly subscriptionTier: number;
  readonly note: string | null;
}

/** Each further round replaces keys that exist already. */
const rounds = 5;

/**
 * Mints keys and inserts their licenses. A key that exists already, which short masks can hit, is minted again.
 * @throws {ServiceError} VALIDATION_FAILED when the mask leaves too few unused keys
 */
export async function mintLicenses(order: MintOrder, insert: Insert): Promise<MintedRow[]> {
  const { mask, durationSeconds, subscriptionTier, note } = order;
  const minted: MintedRow[] = [];
  let ids = order.ids;
  for (let round = 0; round < rounds && ids.length > 0; round++) {
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
    const inserted = await insert(candidates);
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
