import { sha256 } from '../../crypto/hash.ts';
import type { Prisma } from '../../db/client.ts';
import { newId } from '../../lib/ids.ts';
import { ServiceError } from '../errors.ts';
import { insertLicenses, type NewLicense } from './insert.ts';
import { keyPrefix, mintKeys } from './mask.ts';

/** A license that was just inserted, and its key in the clear: the one time that it is held. */
export interface MintedRow extends NewLicense {
  readonly licenseKey: string;
}

/** What to mint. */
export interface MintOrder {
  readonly applicationId: string;
  readonly amount: number;
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
export async function mintLicenses(
  transaction: Prisma.TransactionClient,
  order: MintOrder,
  now: Date,
): Promise<MintedRow[]> {
  const { mask, durationSeconds, subscriptionTier, note } = order;
  const minted: MintedRow[] = [];
  for (let round = 0; round < rounds && minted.length < order.amount; round++) {
    const candidates = mintKeys(mask, order.amount - minted.length).map((licenseKey) => ({
      id: newId(),
      licenseKey,
      keyHash: sha256(licenseKey),
      keyPrefix: keyPrefix(licenseKey, mask),
      durationSeconds,
      subscriptionTier,
      note,
      noteCiphertextB64: null,
    }));
    const inserted = await insertLicenses(transaction, order.applicationId, candidates, now);
    minted.push(...candidates.filter((candidate) => inserted.has(candidate.id)));
  }
  if (minted.length < order.amount) {
    throw new ServiceError('VALIDATION_FAILED', 'The mask leaves too few unused keys.', {
      issues: [{ path: ['mask'], message: 'leaves too few unused keys: add more X' }],
    });
  }
  return minted;
}
