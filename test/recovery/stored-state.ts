import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { Query } from './installation.ts';
import { keysABatch, type Stage } from './work.ts';

/**
 * Checks stored data against the journal and for consistency: every acknowledged key is there, every batch is complete,
 * and changes and log entries correspond.
 */
export async function expectStoredWhole(query: Query, { journal, application }: Stage): Promise<void> {
  const column = async (text: string, values: readonly unknown[] = []) =>
    (await query<{ value: string }>(text, values)).map(({ value }) => value).toSorted();
  const app = [application.id];

  const batches = await query<{ note: string; count: number }>(
    'SELECT note, count(*)::int AS count FROM licenses WHERE application_id = $1 AND note IS NOT NULL GROUP BY note',
    app,
  );
  expect(batches.filter(({ count }) => count !== keysABatch)).toEqual([]);
  expect(batches.filter(({ note }) => !journal.notes.has(note))).toEqual([]);
  const stored = new Set(
    await column(`SELECT encode(key_hash, 'hex') AS value FROM licenses WHERE application_id = $1`, app),
  );
  const shown = [...journal.batches.values()].flat();
  expect(shown.filter(({ licenseKey }) => !stored.has(hashOf(licenseKey)))).toEqual([]);

  const entries = await query<{ event: string; count: number }>(
    `SELECT event, count(*)::int AS count FROM security_log GROUP BY event`,
  );
  const logged = (event: string) => entries.find((entry) => entry.event === event)?.count ?? 0;
  const [{ unnoted = 0 } = {}] = await query<{ unnoted: number }>(
    'SELECT count(*)::int AS unnoted FROM licenses WHERE application_id = $1 AND note IS NULL',
    app,
  );
  expect(logged('licenses_created'), 'batches in the log').toBe(batches.length + unnoted);

  const entriesOf = (event: string, field: string) =>
    column(`SELECT ${field} AS value FROM security_log WHERE event = $1`, [event]);
  const banned = await column(`SELECT id AS value FROM licenses WHERE status = 'banned'`);
  expect(await entriesOf('license_banned', 'license_id::text')).toEqual(banned);
  expect(await column('SELECT source_license_id::text AS value FROM bans')).toEqual(banned);
  expect([...journal.banned].filter((id) => !banned.includes(id))).toEqual([]);

  const apiKeys = await column('SELECT id::text AS value FROM api_keys');
  expect(await entriesOf('api_key_created', `metadata ->> 'apiKeyId'`)).toEqual(apiKeys);
  expect(journal.apiKeys.filter(({ id }) => !apiKeys.includes(id))).toEqual([]);
  const revoked = await column('SELECT id::text AS value FROM api_keys WHERE revoked_at IS NOT NULL');
  expect(await entriesOf('api_key_revoked', `metadata ->> 'apiKeyId'`)).toEqual(revoked);
  expect([...journal.revoked].filter((id) => !revoked.includes(id))).toEqual([]);

  const changes = logged('application_settings_changed');
  expect(changes).toBeGreaterThanOrEqual(journal.settingsDone);
  expect(changes).toBeLessThanOrEqual(journal.settingAsked);
  const users = await column('SELECT username AS value FROM end_users');
  expect(journal.users.filter(({ username }) => !users.includes(username))).toEqual([]);
  const halfRegistered = await column(`
    SELECT end_users.id::text AS value FROM end_users LEFT JOIN licenses ON licenses.id = license_id
    WHERE licenses.activated_at IS NULL OR licenses.hwid IS DISTINCT FROM last_hwid`);
  expect(halfRegistered).toEqual([]);
}

const hashOf = (licenseKey: string): string => createHash('sha256').update(licenseKey).digest('hex');
