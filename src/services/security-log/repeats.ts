import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { lowestId } from '../../db/log-partition.ts';
import { timeOfId } from '../../lib/ids.ts';
import type { SecurityLogRow } from './entry.ts';

const hour = 60 * 60 * 1000;
/** Repeats of more licenses and devices than this are looked up in the database. */
const maxRemembered = 100_000;
/** So many of a license's latest entries are looked at. */
const maxLookedAt = 100;

/** Finds validations that the log has already, with LOG_REPEATS=hourly: of each license and device, one OK an hour is kept. */
export interface Repeats {
  /** Whether this process has added such an entry in this hour; if not, it has from now on. */
  isRepeat(entry: SecurityLogRow): boolean;
  /** Forgets what was added, because some of it was not stored. */
  forget(): void;
}

export function createRepeats(): Repeats {
  const hours = new LRUCache<string, number>({ max: maxRemembered });
  return {
    isRepeat(entry) {
      if (!isPlainUse(entry)) return false;
      const key = `${entry.licenseId} ${entry.hwid ?? ''}`;
      const now = hourOf(entry);
      if (hours.get(key) === now) return true;
      hours.set(key, now);
      return false;
    },
    forget: () => hours.clear(),
  };
}

/** The start of the hour of an entry's id, in milliseconds. */
function hourOf({ id }: SecurityLogRow): number {
  const time = timeOfId(id);
  return time - (time % hour);
}

interface PlainUse extends SecurityLogRow {
  readonly licenseId: string;
}

/** First uses and bindings say more in their metadata, and are always kept. */
const isPlainUse = (entry: SecurityLogRow): entry is PlainUse =>
  entry.event === 'license_validated' &&
  entry.code === 'OK' &&
  entry.licenseId != null &&
  entry.metadata === undefined;

/** The entries without those that repeat one that is stored: by another instance, or before a restart. */
export async function withoutRepeats(
  client: pg.ClientBase,
  entries: readonly SecurityLogRow[],
): Promise<readonly SecurityLogRow[]> {
  const uses = entries.filter(isPlainUse);
  if (uses.length === 0) return entries;
  const { rows } = await client.query<{ id: string }>(findRepeats, [
    uses.map(({ id }) => id),
    uses.map(({ licenseId }) => licenseId),
    uses.map(({ hwid }) => hwid ?? null),
    uses.map((use) => lowestId(hourOf(use))),
  ]);
  const repeats = new Set(rows.map(({ id }) => id));
  return entries.filter(({ id }) => !repeats.has(id));
}

// Without a limit, a license that is used with a million names of devices in an hour would hold up the log of all others.
const findRepeats = `
  SELECT use.id FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[]) AS use (id, license_id, hwid, first_of_hour)
  WHERE EXISTS (
    SELECT FROM (
      SELECT event, code, hwid FROM security_log
      WHERE license_id = use.license_id AND id >= use.first_of_hour AND id < use.id
      ORDER BY id DESC LIMIT ${maxLookedAt}
    ) AS earlier
    WHERE earlier.event = 'license_validated' AND earlier.code = 'OK' AND earlier.hwid IS NOT DISTINCT FROM use.hwid)`;
