import type { Pool } from 'pg';
import { inTransaction } from '../../db/in-transaction.ts';
import { liftStatementTimeout } from '../../db/session-settings.ts';
import { identifiedAsJson } from '../outbox/record.ts';
import type { SecurityLogRow } from './entry.ts';
import { createToldRefusals, insertRefusals, type ToldRefusals } from './refusals.ts';
import type { DeviceUse } from './uses.ts';

/** Short, because all other entries wait for this batch, and the deletion of a large application locks rows for long. */
const lockTimeoutMilliseconds = 1_000;

/**
 * Writes a batch of any size, and the events of its refusals, in a few statements of one transaction. Entries whose application or developer has been
 * deleted are skipped instead of failing the batch, and so are entries that are already stored, for example after an
 * ambiguous commit.
 */
export async function writeBatch(
  pool: Pool,
  entries: readonly SecurityLogRow[],
  lastIps: ReadonlyMap<string, string>,
  devices: ReadonlyMap<string, DeviceUse> = new Map(),
  told: ToldRefusals = createToldRefusals(),
): Promise<void> {
  const refusals = told.eventsOf(entries);
  await inTransaction(
    pool,
    async (client) => {
      if (entries.length > 0) await client.query(insertEntries, entryColumns(entries));
      if (refusals.length > 0) await client.query(insertRefusals, [identifiedAsJson(refusals)]);
      if (devices.size > 0) await client.query(lockLicenses, [licensesOf(lastIps, devices)]);
      if (lastIps.size > 0) await client.query(updateLastIps, lastIpColumns(lastIps));
      if (devices.size > 0) await client.query(updateDevices, deviceColumns(devices));
    },
    `BEGIN; ${liftStatementTimeout}; SET LOCAL lock_timeout = '${lockTimeoutMilliseconds}ms'`,
  );
  told.note(refusals);
}

// The actor is client software, which the row's user names if one is known: a constant of four bytes, and no parameter.
// The parents are locked so that they exist until the commit. They are locked first, like a deletion does, and in order
// of their ids: neither a deletion nor another batch can deadlock with this one.
const insertEntries = `
  WITH entry AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::uuid[], $7::uuid[],
                         $8::text[], $9::text[], $10::text[], $11::jsonb[], $12::timestamptz[])
      AS t (id, developer_id, application_id, event, code, license_id, user_id, ip, country, hwid, metadata, created_at)
  ), developer AS (
    SELECT id FROM developers WHERE id IN (SELECT developer_id FROM entry) ORDER BY id FOR KEY SHARE
  ), application AS (
    SELECT applications.id FROM applications JOIN developer ON developer.id = applications.developer_id
    WHERE applications.id IN (SELECT application_id FROM entry) ORDER BY applications.id FOR KEY SHARE OF applications
  )
  INSERT INTO security_log (id, developer_id, application_id, event, code, license_id, user_id, ip, country, hwid, metadata, created_at,
    actor_kind)
  SELECT entry.*, 'client'::"SecurityActorKind" FROM entry JOIN application ON application.id = entry.application_id
  ON CONFLICT DO NOTHING`;

const updateLastIps = `
  WITH seen AS (
    SELECT * FROM unnest($1::uuid[], $2::text[]) AS t (id, ip)
  ), license AS (
    SELECT licenses.id FROM licenses JOIN seen USING (id) ORDER BY licenses.id FOR NO KEY UPDATE
  )
  UPDATE licenses SET last_ip = seen.ip FROM seen, license
  WHERE licenses.id = seen.id AND license.id = seen.id AND licenses.last_ip IS DISTINCT FROM seen.ip`;

// Whoever changes a device locks its license first.
const lockLicenses = `SELECT FROM licenses WHERE id = ANY($1::uuid[]) ORDER BY id FOR NO KEY UPDATE`;

// Instances write in any order: a device's time never goes back.
const updateDevices = `
  UPDATE devices SET last_seen_at = seen.at, last_ip = coalesce(seen.ip, devices.last_ip),
    country = CASE WHEN seen.ip IS NULL THEN devices.country ELSE seen.country END
  FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[]) AS seen (id, at, ip, country)
  WHERE devices.id = seen.id AND devices.released_at IS NULL
    AND (seen.at > devices.last_seen_at OR seen.at = devices.last_seen_at AND seen.ip <> coalesce(devices.last_ip, ''))`;

function entryColumns(entries: readonly SecurityLogRow[]): unknown[] {
  return [
    entries.map((entry) => entry.id),
    entries.map((entry) => entry.developerId),
    entries.map((entry) => entry.applicationId),
    entries.map((entry) => entry.event),
    entries.map((entry) => entry.code ?? null),
    entries.map((entry) => entry.licenseId ?? null),
    entries.map((entry) => entry.userId ?? null),
    entries.map((entry) => entry.ip),
    entries.map((entry) => entry.country),
    entries.map((entry) => entry.hwid ?? null),
    entries.map((entry) => JSON.stringify(entry.metadata ?? {})),
    entries.map((entry) => entry.createdAt),
  ];
}

function lastIpColumns(lastIps: ReadonlyMap<string, string>): unknown[] {
  return [[...lastIps.keys()], [...lastIps.values()]];
}

const licensesOf = (lastIps: ReadonlyMap<string, string>, devices: ReadonlyMap<string, DeviceUse>) => [
  ...new Set([...lastIps.keys(), ...[...devices.values()].map(({ licenseId }) => licenseId)]),
];

function deviceColumns(devices: ReadonlyMap<string, DeviceUse>): unknown[] {
  const uses = [...devices.values()];
  return [
    [...devices.keys()],
    uses.map(({ at }) => at),
    uses.map(({ ip }) => ip),
    uses.map(({ country }) => country),
  ];
}
