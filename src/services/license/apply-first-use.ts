import type { Pool } from 'pg';
import type { ClientOrigin } from '../client-origin.ts';
import { eventColumns, eventRecords, eventsAsJson } from '../outbox/record.ts';
import type { DeviceLabels } from './client-facts.ts';
import type { LicenseSnapshot } from './snapshot.ts';
import { activatedEvent, boundEvent } from './use-events.ts';

/** What a first use writes. */
export interface FirstUse {
  readonly developerId: string;
  /** Null if the license is active already. */
  readonly activate: { readonly expiresAt: Date | null } | null;
  /** The device to bind; null if none. */
  readonly hwid: string | null;
  readonly labels: DeviceLabels;
  readonly origin: Pick<ClientOrigin, 'ip' | 'country'>;
  readonly now: Date;
}

/**
 * Applies a verdict's effects, and records the events about them, in one statement, provided that the license is unchanged since the verdict and has room for
 * the device. If devices race for the last place, one binds; of two first uses, only one starts the duration.
 * @returns false if the license has changed and must be checked again
 */
export async function applyFirstUse(
  pool: Pool,
  license: LicenseSnapshot,
  { developerId, activate, hwid, labels, origin, now }: FirstUse,
): Promise<boolean> {
  const use = { ...license, developerId };
  const events = [
    ...(activate === null ? [] : [activatedEvent(use, activate)]),
    ...(hwid === null ? [] : [boundEvent(use, { hwid }, labels)]),
  ];
  try {
    const { rowCount } = await pool.query(firstUse, [
      license.id,
      activate !== null,
      now,
      activate?.expiresAt ?? null,
      hwid,
      license.status,
      license.expiresAt,
      license.deviceReleases,
      labels.deviceName,
      labels.platform,
      origin.ip,
      origin.country,
      license.durationSeconds,
      developerId,
      eventsAsJson(events, now),
    ]);
    return rowCount === 1;
  } catch (error) {
    // Another request has just bound the same device.
    if (isConflict(error)) return false;
    throw error;
  }
}

/** PostgreSQL's unique_violation. */
const isConflict = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '23505';

const isBound = '(hwid IS NOT NULL OR device_hash IS NOT NULL)';

/** SQL for the number of a license's active devices. */
export const deviceCount = `coalesce(device_count, CASE WHEN ${isBound} THEN 1 ELSE 0 END)`;

// The condition on the number of devices holds for the row as it is when the update locks it, and only who holds the lock
// changes that number. The id is made after the row is locked, so the oldest device has the lowest. The account is locked
// before the license, because the events refer to it, and its deletion locks them in this order.
const firstUse = `
  WITH developer AS MATERIALIZED (
    SELECT FROM developers WHERE id = $14 FOR KEY SHARE
  ), used AS (
    UPDATE licenses SET
      status = 'active',
      activated_at = CASE WHEN $2 THEN $3 ELSE activated_at END,
      expires_at = CASE WHEN $2 THEN $4 ELSE expires_at END,
      hwid = CASE WHEN ${isBound} THEN hwid ELSE $5 END,
      device_count = CASE WHEN $5::text IS NULL THEN device_count ELSE ${deviceCount} + 1 END,
      updated_at = $3
    WHERE EXISTS (SELECT FROM developer)
      AND id = $1
      AND status = $6::"LicenseStatus"
      AND expires_at IS NOT DISTINCT FROM $7
      AND duration_seconds = $13
      AND suspended_at IS NULL
      AND device_releases = $8
      AND ($5::text IS NULL OR ${deviceCount} < device_limit)
    RETURNING id, key_prefix
  ), bound AS (
    INSERT INTO devices (id, license_id, hwid, name, platform, first_seen_at, last_seen_at, last_ip, country)
    SELECT device_id_at(clock_timestamp()), id, $5, $9, $10, $3, date_trunc('minute', $3::timestamptz), $11, $12
    FROM used WHERE $5::text IS NOT NULL
    RETURNING id
  ), told AS (
    INSERT INTO events (${eventColumns})
    SELECT event.id, developer_id, application_id, type, subject_kind, coalesce(subject_id, bound.id),
      data || jsonb_build_object('keyPrefix', key_prefix), created_at
    FROM used LEFT JOIN bound ON true CROSS JOIN ${eventRecords('$15')} ORDER BY place
  )
  SELECT FROM used`;
