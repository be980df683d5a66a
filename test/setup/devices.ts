import { sha256 } from '../../src/crypto/hash.ts';
import { licenseCacheKey } from '../../src/services/changes/change.ts';
import type { TestServer } from './server.ts';
import { sql } from './stored.ts';
import type { SeededLicense } from './world.ts';

/** What a license says about its devices. */
export interface DeviceRules {
  readonly device_limit?: number;
  readonly self_service?: 'off' | 'key' | 'account';
  readonly release_idle_after_seconds?: number | null;
}

/** Sets what a license says about its devices, on all these instances of one database. */
export async function setDeviceRules(
  servers: readonly TestServer[],
  { id, licenseKey }: Pick<SeededLicense, 'id' | 'licenseKey'>,
  rules: DeviceRules,
): Promise<void> {
  const [server] = servers;
  if (server === undefined) throw new Error('Name a server');
  const columns = Object.keys(rules);
  const assignments = columns.map((column, index) => `${column} = $${index + 2}`).join(', ');
  await sql(server, `UPDATE licenses SET ${assignments} WHERE id = $1`, [id, ...Object.values(rules)]);
  const keys = [licenseCacheKey(sha256(licenseKey))];
  for (const each of servers) await each.deps.services.changes.tell([{ cache: 'license', keys }]);
}

export interface StoredDevice {
  readonly id: string;
  readonly hwid: string | null;
  readonly deviceHash: string | null;
  readonly lastSeenAt: Date;
  readonly lastIp: string | null;
  readonly country: string | null;
  readonly releasedBy: string | null;
}

/** A license's devices, oldest first. */
export const storedDevices = (server: TestServer, licenseId: string): Promise<StoredDevice[]> =>
  sql<StoredDevice>(
    server,
    `SELECT id, hwid, device_hash AS "deviceHash", last_seen_at AS "lastSeenAt", last_ip AS "lastIp", country,
       released_by::text AS "releasedBy" FROM devices WHERE license_id = $1 ORDER BY id`,
    [licenseId],
  );

/** What is wrong with a license's own account of its devices; empty if nothing is. */
export async function contradictions(server: TestServer, licenseId: string): Promise<string[]> {
  const [row] = await sql<{ own: number; active: number; hwid: string | null; oldest: string | null }>(
    server,
    `SELECT coalesce(device_count, CASE WHEN coalesce(hwid, device_hash) IS NULL THEN 0 ELSE 1 END) AS own,
       (SELECT count(*)::int FROM devices WHERE license_id = $1 AND released_at IS NULL) AS active,
       coalesce(hwid, device_hash) AS hwid,
       (SELECT coalesce(hwid, device_hash) FROM devices WHERE license_id = $1 AND released_at IS NULL ORDER BY id LIMIT 1) AS oldest
     FROM licenses WHERE id = $1`,
    [licenseId],
  );
  if (row === undefined) return ['there is no such license'];
  const { own, active, hwid, oldest } = row;
  return [
    ...(own === active ? [] : [`the license counts ${own} devices and has ${active}`]),
    ...(hwid === oldest ? [] : [`the license names ${hwid}, and its oldest device is ${oldest}`]),
  ];
}
