import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { v7 } from 'uuid';
import { eventColumns, eventRecords, type IdentifiedEvent } from '../outbox/record.ts';
import type { SecurityLogRow } from './entry.ts';

/** The refusals that a developer may act on. Others are mistakes of the client, or concern no license. */
const toldCodes: ReadonlySet<string> = new Set([
  'IP_BANNED',
  'HWID_BANNED',
  'BANNED',
  'SUSPENDED',
  'EXPIRED',
  'DEVICE_RELEASED',
  'HWID_MISMATCH',
  'DEVICE_LIMIT',
]);

const hour = 60 * 60 * 1000;

/** Which refusals this process has told: of each license and code, one an hour. */
export interface ToldRefusals {
  /** The events of a batch that this process has not told yet, by their ids. */
  eventsOf(entries: readonly SecurityLogRow[]): readonly IdentifiedEvent[];
  /** Notes that these are stored. */
  note(events: readonly IdentifiedEvent[]): void;
}

/** Refusals of more licenses than this are sent to the database again, which keeps one of them. */
const maxRemembered = 10_000;

export function createToldRefusals(): ToldRefusals {
  const told = new LRUCache<string, true>({ max: maxRemembered });
  return {
    eventsOf(entries) {
      const found = new Map<string, IdentifiedEvent>();
      for (const entry of entries) {
        if (!isTold(entry)) continue;
        const id = refusalId(entry);
        if (!told.has(id) && !found.has(id)) found.set(id, refusalEvent(entry, id));
      }
      return [...found.values()];
    },
    note(events) {
      for (const { id } of events) told.set(id, true);
    },
  };
}

interface Refused extends SecurityLogRow {
  readonly licenseId: string;
  readonly code: string;
}

const isTold = (entry: SecurityLogRow): entry is Refused =>
  entry.event === 'license_validated' &&
  entry.licenseId != null &&
  entry.code !== undefined &&
  toldCodes.has(entry.code);

/**
 * The id is a UUIDv7 of the hour, made of the license and the code: the primary key lets one event an hour in, whichever
 * instance writes it.
 */
function refusalId({ licenseId, code, createdAt }: Refused): string {
  const msecs = createdAt.getTime() - (createdAt.getTime() % hour);
  const digest = createHash('sha256').update(`${licenseId} ${code}`).digest();
  return v7({ msecs, seq: digest.readUInt32BE(16), random: digest.subarray(0, 16) });
}

const refusalEvent = (entry: Refused, id: string): IdentifiedEvent => ({
  id,
  createdAt: entry.createdAt,
  developerId: entry.developerId,
  applicationId: entry.applicationId,
  type: 'license.refused',
  subjectId: entry.licenseId,
  data: { code: entry.code, hwid: entry.hwid ?? null, ip: entry.ip, country: entry.country },
});

/**
 * SQL that inserts the events of `$1`. The transaction has locked their accounts. In order of the ids, so that two batches
 * with the same ones do not deadlock.
 */
export const insertRefusals = `
  INSERT INTO events (${eventColumns})
  SELECT ${eventColumns} FROM ${eventRecords('$1')}
  WHERE EXISTS (SELECT FROM developers WHERE developers.id = developer_id)
  ORDER BY id
  ON CONFLICT DO NOTHING`;
