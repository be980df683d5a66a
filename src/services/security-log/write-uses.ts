import type pg from 'pg';
import type { DeviceUse } from './uses.ts';

/**
 * Sets the addresses that licenses were last used from. Licenses that have the address already are not locked. It waits for no
 * lock, because a developer may change many licenses in one transaction.
 * @returns the ids of licenses that other transactions have locked
 */
export async function writeAddresses(
  client: pg.ClientBase,
  addresses: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  if (addresses.size === 0) return [];
  const { rows } = await client.query<{ id: string }>(updateAddresses, [
    [...addresses.keys()],
    [...addresses.values()],
  ]);
  return rows.map(({ id }) => id);
}

const updateAddresses = `
  WITH seen AS (
    SELECT * FROM unnest($1::uuid[], $2::text[]) AS t (id, ip)
  ), other AS (
    SELECT licenses.id FROM licenses JOIN seen USING (id) WHERE licenses.last_ip IS DISTINCT FROM seen.ip
  ), license AS (
    SELECT licenses.id FROM licenses JOIN seen USING (id) WHERE licenses.last_ip IS DISTINCT FROM seen.ip
    ORDER BY licenses.id FOR NO KEY UPDATE OF licenses SKIP LOCKED
  ), written AS (
    UPDATE licenses SET last_ip = seen.ip FROM seen, license WHERE licenses.id = seen.id AND license.id = seen.id
  )
  SELECT id FROM other WHERE NOT EXISTS (SELECT FROM license WHERE license.id = other.id)`;

/**
 * Sets when and from where devices were last used. It waits for no lock, so it need not lock the licenses first, as those do
 * that change a device otherwise.
 * @returns the ids of devices that other transactions have locked
 */
export async function writeDevices(
  client: pg.ClientBase,
  devices: ReadonlyMap<string, DeviceUse>,
): Promise<readonly string[]> {
  if (devices.size === 0) return [];
  const uses = [...devices.values()];
  const { rows } = await client.query<{ id: string }>(updateDevices, [
    [...devices.keys()],
    uses.map(({ at }) => at),
    uses.map(({ ip }) => ip),
    uses.map(({ country }) => country),
  ]);
  return rows.map(({ id }) => id);
}

// Instances write in any order: a device's time never goes back.
const isLaterUse = `devices.released_at IS NULL
  AND (seen.at > devices.last_seen_at OR seen.at = devices.last_seen_at AND seen.ip <> coalesce(devices.last_ip, ''))`;

const updateDevices = `
  WITH seen AS (
    SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[]) AS t (id, at, ip, country)
  ), other AS (
    SELECT devices.id FROM devices JOIN seen USING (id) WHERE ${isLaterUse}
  ), device AS (
    SELECT devices.id FROM devices JOIN seen USING (id) WHERE ${isLaterUse}
    FOR NO KEY UPDATE OF devices SKIP LOCKED
  ), written AS (
    UPDATE devices SET last_seen_at = seen.at, last_ip = coalesce(seen.ip, devices.last_ip),
      country = CASE WHEN seen.ip IS NULL THEN devices.country ELSE seen.country END
    FROM seen, device
    WHERE devices.id = seen.id AND device.id = seen.id
  )
  SELECT id FROM other WHERE NOT EXISTS (SELECT FROM device WHERE device.id = other.id)`;
