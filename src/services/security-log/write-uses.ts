import type pg from 'pg';
import type { DeviceUse } from './uses.ts';

/** Sets the addresses that licenses were last used from. Licenses that have the address already are not locked. */
export async function writeAddresses(
  client: pg.ClientBase,
  addresses: ReadonlyMap<string, string>,
): Promise<void> {
  if (addresses.size > 0)
    await client.query(updateAddresses, [[...addresses.keys()], [...addresses.values()]]);
}

const updateAddresses = `
  WITH seen AS (
    SELECT * FROM unnest($1::uuid[], $2::text[]) AS t (id, ip)
  ), license AS (
    SELECT licenses.id FROM licenses JOIN seen USING (id) WHERE licenses.last_ip IS DISTINCT FROM seen.ip
    ORDER BY licenses.id FOR NO KEY UPDATE OF licenses
  )
  UPDATE licenses SET last_ip = seen.ip FROM seen, license WHERE licenses.id = seen.id AND license.id = seen.id`;

/**
 * Sets when and from where devices were last used. A device that another transaction is changing is omitted: it is being
 * bound or released, or another instance writes a use of about the same time. So this waits for no lock, and need not lock
 * the licenses first, as those do that change a device otherwise.
 */
export async function writeDevices(
  client: pg.ClientBase,
  devices: ReadonlyMap<string, DeviceUse>,
): Promise<void> {
  if (devices.size === 0) return;
  const uses = [...devices.values()];
  await client.query(updateDevices, [
    [...devices.keys()],
    uses.map(({ at }) => at),
    uses.map(({ ip }) => ip),
    uses.map(({ country }) => country),
  ]);
}

// Instances write in any order: a device's time never goes back.
const updateDevices = `
  WITH seen AS (
    SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[]) AS t (id, at, ip, country)
  ), device AS (
    SELECT devices.id FROM devices JOIN seen USING (id)
    WHERE devices.released_at IS NULL
      AND (seen.at > devices.last_seen_at OR seen.at = devices.last_seen_at AND seen.ip <> coalesce(devices.last_ip, ''))
    FOR NO KEY UPDATE OF devices SKIP LOCKED
  )
  UPDATE devices SET last_seen_at = seen.at, last_ip = coalesce(seen.ip, devices.last_ip),
    country = CASE WHEN seen.ip IS NULL THEN devices.country ELSE seen.country END
  FROM seen, device
  WHERE devices.id = seen.id AND device.id = seen.id`;
