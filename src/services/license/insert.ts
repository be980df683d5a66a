import type { Sha256 } from '../../crypto/hash.ts';
import type { Prisma } from '../../db/client.ts';

/** A license to insert. */
export interface NewLicense {
  readonly id: string;
  readonly keyHash: Sha256;
  readonly keyPrefix: string;
  readonly durationSeconds: number;
  readonly subscriptionTier: number;
  readonly note: string | null;
  /** In private mode: the note, encrypted in the developer's browser. */
  readonly noteCiphertextB64: string | null;
}

/**
 * Inserts licenses in one statement. They are ordered by hash, so that two batches with the same keys, which only blind
 * mints can have, do not deadlock.
 * @returns the inserted ids; if one is missing, its key already exists
 */
export async function insertLicenses(
  transaction: Prisma.TransactionClient,
  applicationId: string,
  licenses: readonly NewLicense[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const rows = await transaction.$queryRaw<{ id: string }[]>`
    INSERT INTO licenses (id, application_id, key_hash, key_prefix, duration_seconds, subscription_tier, note,
      note_ciphertext_b64, created_at, updated_at)
    SELECT id, ${applicationId}::uuid, decode(key_hash, 'hex'), key_prefix, duration_seconds, subscription_tier, note,
      note_ciphertext_b64, ${now}, ${now}
    FROM unnest(
      ${licenses.map((license) => license.id)}::uuid[],
      ${licenses.map((license) => Buffer.from(license.keyHash).toString('hex'))}::text[],
      ${licenses.map((license) => license.keyPrefix)}::text[],
      ${licenses.map((license) => license.durationSeconds)}::int[],
      ${licenses.map((license) => license.subscriptionTier)}::int[],
      ${licenses.map((license) => license.note)}::text[],
      ${licenses.map((license) => license.noteCiphertextB64)}::text[]
    ) AS t (id, key_hash, key_prefix, duration_seconds, subscription_tier, note, note_ciphertext_b64)
    ORDER BY key_hash
    ON CONFLICT (key_hash) DO NOTHING
    RETURNING id`;
  return new Set(rows.map((row) => row.id));
}
