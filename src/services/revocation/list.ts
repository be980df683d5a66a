import type { Pool } from 'pg';
import { strongEtag } from '../../crypto/strong-etag.ts';
import { type RevocationsClaims, shortLicenseId } from '../../protocol/v2/revocations.ts';
import { revocationsType } from '../../protocol/v2/signed-token.ts';
import type { ApplicationSnapshot } from '../application/snapshot.ts';
import { listedUntil } from './listed.ts';

/** A signed revocation list, as it is served. */
export interface RevocationList {
  readonly text: string;
  /** See `strongEtag`. */
  readonly etag: string;
  /** From when until when it is served, in milliseconds since the Unix epoch: a day. */
  readonly servedFrom: number;
  readonly servedUntil: number;
}

/** Whether a list may be served at this time. One from before the clock was set back may not. */
export const isServed = ({ servedFrom, servedUntil }: RevocationList, now: number): boolean =>
  servedFrom <= now && now < servedUntil;

const day = 24 * 60 * 60;
/** Seconds for which a list says that it is current. It is replaced every day, so a list on a stick lasts for days. */
const lifetime = 7 * day;

/**
 * Signs the revocation list of an application. It depends on the day and the stored rows alone, so all instances sign the
 * same bytes, and a client that asks several of them gets 304.
 * @param now in milliseconds since the Unix epoch
 */
export async function signRevocationList(
  pool: Pool,
  { id, signer }: Pick<ApplicationSnapshot, 'id' | 'signer'>,
  now: number,
): Promise<RevocationList> {
  const iat = Math.floor(now / 1000 / day) * day;
  const { rev, revoked } = await readRevoked(pool, id, new Date(iat * 1000));
  const claims: RevocationsClaims = { aud: id, iat, exp: iat + lifetime, rev, revoked };
  const text = await signer.signToken(revocationsType, claims);
  return { text, etag: strongEtag(text), servedFrom: iat * 1000, servedUntil: (iat + day) * 1000 };
}

/** The counter, and the licenses with revoked leases that ran at this time, each with its last revocation. */
async function readRevoked(
  pool: Pool,
  applicationId: string,
  at: Date,
): Promise<Pick<RevocationsClaims, 'rev' | 'revoked'>> {
  // One statement: a counter that is read before the rows would make a list complete that lacks one.
  const { rows } = await pool.query<{ licenseId: string | null; revokedRev: number; rev: number }>(
    `WITH revoked AS (
       SELECT license_id, max(revoked_rev) AS revoked_rev FROM leases
       WHERE application_id = $1 AND revoked_rev IS NOT NULL AND ${listedUntil} > $2
       GROUP BY license_id
     )
     SELECT license_id AS "licenseId", revoked_rev::float8 AS "revokedRev",
       coalesce((SELECT rev FROM revocation_counters WHERE application_id = $1), 0)::float8 AS rev
     FROM (SELECT 1) AS always LEFT JOIN revoked ON true ORDER BY license_id`,
    [applicationId, at],
  );
  const entries = rows.flatMap(({ licenseId, revokedRev }) =>
    licenseId === null ? [] : [[shortLicenseId(licenseId), revokedRev] as const],
  );
  return { rev: rows[0]?.rev ?? 0, revoked: Object.fromEntries(entries) };
}
