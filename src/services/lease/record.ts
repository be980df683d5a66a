import { Prisma } from '../../db/client.ts';
import { newId } from '../../lib/ids.ts';
import { lockDevice } from '../revocation/lock-device.ts';

/** A lease to issue. The caller has locked its license against changes (`FOR SHARE` or stronger). */
export interface NewLease {
  readonly applicationId: string;
  readonly licenseId: string;
  readonly deviceHash: string;
  /** Null if only its hash is known. */
  readonly hwid: string | null;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

export interface RecordedLease {
  readonly jti: string;
  readonly seq: number;
  readonly rev: number;
  /** The sequence number of the previous lease; null for the first one. */
  readonly previousSeq: number | null;
  /** Whether an issue to this device was logged within the last half of a term. */
  readonly isLoggedAlready: boolean;
}

/** Why a lease was not recorded. */
export type Unrecorded = 'device-banned' | 'too-many-devices';

/** A ban revokes all running leases of its license in one statement, so their number is limited. */
export const maxDevices = 1_000;

/**
 * Records a lease, with the next sequence number of its license and device. Numbers are at least the current time in
 * seconds, so that they rise even if an earlier row was purged, or a backup was restored.
 * @returns why it was not recorded, if the device is banned, or if leases of too many devices run for the license
 */
export async function recordLease(
  transaction: Prisma.TransactionClient,
  lease: NewLease,
): Promise<RecordedLease | Unrecorded> {
  const { applicationId, licenseId, deviceHash, hwid, issuedAt, expiresAt } = lease;
  await lockDevice(transaction, applicationId, deviceHash);
  if (!(await hasRoom(transaction, lease))) return 'too-many-devices';
  const jti = newId();
  const halfTerm = (expiresAt.getTime() - issuedAt.getTime()) / 2;
  const logBefore = new Date(issuedAt.getTime() - halfTerm);
  // A new statement, so it sees what was committed while this transaction waited for the device.
  const [row] = await transaction.$queryRaw<RecordedRow[]>`
    WITH earlier AS MATERIALIZED (
      SELECT seq, logged_at > ${logBefore} AND logged_at <= ${issuedAt} AS is_logged FROM leases
      WHERE application_id = ${applicationId}::uuid AND license_id = ${licenseId}::uuid
        AND device_hash = ${deviceHash}
    )
    INSERT INTO leases AS held
      (application_id, license_id, device_hash, seq, rev, jti, issued_at, expires_at, logged_at)
    SELECT ${applicationId}::uuid, ${licenseId}::uuid, ${deviceHash},
      floor(extract(epoch FROM ${issuedAt}::timestamptz))::bigint,
      coalesce((SELECT rev FROM revocation_counters WHERE application_id = ${applicationId}::uuid), 0),
      ${jti}::uuid, ${issuedAt}, ${expiresAt}, ${issuedAt}
    WHERE NOT EXISTS (
      SELECT FROM bans WHERE application_id = ${applicationId}::uuid AND ban_type = 'hwid'
        AND ${hwid === null ? hasHash(applicationId, deviceHash) : Prisma.sql`value = ${hwid}`}
    )
    ON CONFLICT (application_id, license_id, device_hash) DO UPDATE SET
      seq = greatest(held.seq + 1, excluded.seq),
      rev = greatest(held.rev, excluded.rev),
      jti = excluded.jti,
      issued_at = excluded.issued_at,
      expires_at = greatest(held.expires_at, excluded.expires_at),
      logged_at = CASE WHEN (SELECT is_logged FROM earlier) THEN held.logged_at ELSE excluded.logged_at END
    RETURNING held.seq::float8 AS seq, held.rev::float8 AS rev,
      (SELECT seq FROM earlier)::float8 AS "previousSeq",
      coalesce((SELECT is_logged FROM earlier), false) AS "isLoggedAlready"`;
  return row === undefined ? 'device-banned' : { jti, ...row };
}

/** Concurrent leases may exceed the limit by their own number. */
async function hasRoom(
  transaction: Prisma.TransactionClient,
  { applicationId, licenseId, deviceHash }: NewLease,
): Promise<boolean> {
  const others = await transaction.$queryRaw<unknown[]>`
    SELECT FROM leases WHERE application_id = ${applicationId}::uuid AND license_id = ${licenseId}::uuid
      AND device_hash <> ${deviceHash} LIMIT ${maxDevices}`;
  return others.length < maxDevices;
}

type RecordedRow = Omit<RecordedLease, 'jti'>;

/** SQL for whether a banned HWID has this hash: the same as `deviceHash` of the protocol. */
const hasHash = (applicationId: string, deviceHash: string) => Prisma.sql`
  sha256(convert_to('latchkey-device', 'UTF8') || '\\x00'::bytea || convert_to(${applicationId} || value, 'UTF8'))
    = ${Buffer.from(deviceHash, 'base64url')}`;
