import type { Sha256 } from '../../crypto/hash.ts';
import type { Prisma } from '../../db/client.ts';
import { firstExpiry } from './decide.ts';
import type { MintTerms } from './mint-terms.ts';
import { storedMetadata } from './terms.ts';

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

/** What all licenses of one statement have in common. */
export type CommonTerms = Omit<MintTerms, 'durationSeconds' | 'subscriptionTier' | 'keyMask'>;

/**
 * Inserts licenses in one statement; they are active if their term starts now. They are ordered by hash, so that two
 * batches with the same keys, which only blind mints can have, do not deadlock.
 * @returns the inserted ids; if one is missing, its key already exists
 */
export async function insertLicenses(
  transaction: Prisma.TransactionClient,
  applicationId: string,
  licenses: readonly NewLicense[],
  terms: CommonTerms,
  now: Date,
): Promise<ReadonlySet<string>> {
  const startsNow = terms.startsAt === 'creation';
  // Without elements, the column is null in every row.
  const expiries = startsNow
    ? licenses.map(({ durationSeconds }) => firstExpiry(durationSeconds, now)?.toISOString() ?? null)
    : [];
  const metadata = storedMetadata(terms.metadata);
  const rows = await transaction.$queryRaw<{ id: string }[]>`
    INSERT INTO licenses (id, application_id, key_hash, key_prefix, duration_seconds, subscription_tier, note,
      note_ciphertext_b64, expires_at, status, activated_at, policy_id, device_limit, self_service, move_count,
      move_period_seconds, cooldown_seconds, release_idle_after_seconds, grace_seconds, lease_seconds, entitlements,
      metadata, tags, created_at, updated_at)
    SELECT id, ${applicationId}::uuid, decode(key_hash, 'hex'), key_prefix, duration_seconds, subscription_tier, note,
      note_ciphertext_b64, expires_at, ${startsNow ? 'active' : 'unused'}::"LicenseStatus",
      ${startsNow ? now : null}::timestamptz, ${terms.policyId}::uuid, ${terms.deviceLimit}::int,
      ${terms.selfService}::"SelfService", ${terms.moves?.count ?? null}::int,
      ${terms.moves?.periodSeconds ?? null}::int, ${terms.cooldownSeconds}::int,
      ${terms.releaseIdleAfterSeconds}::int, ${terms.graceSeconds}::int, ${terms.leaseSeconds}::int,
      ${JSON.stringify(terms.entitlements)}::jsonb, ${metadata && JSON.stringify(metadata)}::jsonb,
      ${terms.tags}::text[], ${now}, ${now}
    FROM unnest(
      ${licenses.map((license) => license.id)}::uuid[],
      ${licenses.map((license) => Buffer.from(license.keyHash).toString('hex'))}::text[],
      ${licenses.map((license) => license.keyPrefix)}::text[],
      ${licenses.map((license) => license.durationSeconds)}::int[],
      ${licenses.map((license) => license.subscriptionTier)}::int[],
      ${licenses.map((license) => license.note)}::text[],
      ${licenses.map((license) => license.noteCiphertextB64)}::text[],
      ${expiries}::timestamptz[]
    ) AS t (id, key_hash, key_prefix, duration_seconds, subscription_tier, note, note_ciphertext_b64, expires_at)
    WHERE NOT EXISTS (SELECT FROM previous_license_keys WHERE previous_license_keys.key_hash = decode(t.key_hash, 'hex'))
    ORDER BY key_hash
    ON CONFLICT (key_hash) DO NOTHING
    RETURNING id`;
  return new Set(rows.map((row) => row.id));
}
