import type { Pool, PoolClient } from 'pg';
import { isNotDeletedOwner } from '../../db/deleted-owners.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import type { NewEvent } from './event.ts';
import { eventsAsJson, insertEvents } from './record.ts';

const hour = 60 * 60 * 1000;
const day = 24 * hour;

/** A search for licenses whose expiry is reached, or is this far ahead. */
interface Scan {
  readonly kind: string;
  /** How long before the expiry its events are due, in milliseconds. */
  readonly lead: number;
  /** An event that is late by more than this is left out: a later scan tells more, or the license has expired. */
  readonly latest: number;
}

const scans: readonly Scan[] = [
  { kind: 'expiring in 7 days', lead: 7 * day, latest: 6 * day },
  { kind: 'expiring in 1 day', lead: day, latest: day },
  { kind: 'expired', lead: 0, latest: Number.POSITIVE_INFINITY },
];

/** Licenses of one transaction. */
const largestSlice = 500;
/** After the clock was set back by more than this, a scan begins again at the current time. */
const largestStep = hour;

/**
 * Records `license.expiring` seven days and one day before licenses expire, and `license.expired` when they do; each once,
 * however many instances call this. The first call of an installation begins at `now`. Licenses that are banned, or whose
 * clock is stopped, do not expire. An expiry that a change moves into the past is only in the event of that change.
 * @returns the developers who have new events
 */
export async function scanExpiry(pool: Pool, now: Date, stop?: AbortSignal): Promise<ReadonlySet<string>> {
  const developers = new Set<string>();
  for (const scan of scans) {
    for (let isDone = false; !isDone && stop?.aborted !== true; ) {
      const slice = await inTransaction(pool, (client) => scanSlice(client, scan, now));
      for (const id of slice.developers) developers.add(id);
      isDone = slice.isDone;
    }
  }
  return developers;
}

interface ScannedSlice {
  readonly developers: readonly string[];
  readonly isDone: boolean;
}

const nothing: ScannedSlice = { developers: [], isDone: true };

/** The events and how far the scan has come are committed together. */
async function scanSlice(client: PoolClient, scan: Scan, now: Date): Promise<ScannedSlice> {
  const { kind, lead, latest } = scan;
  const until = new Date(now.getTime() + lead);
  await client.query(begin, [kind, until, highestId]);
  const { rows: held } = await client.query<{ doneUntil: Date; doneId: string }>(lock, [kind]);
  const [done] = held;
  // Another instance is at it.
  if (done === undefined) return nothing;
  if (done.doneUntil.getTime() - until.getTime() > largestStep) {
    await client.query(note, [kind, until, highestId]);
    return nothing;
  }
  const from = new Date(Math.max(0, until.getTime() - latest));
  const { rows } = await client.query<Expiring>(find, [
    done.doneUntil,
    done.doneId,
    until,
    from,
    largestSlice,
  ]);
  const last = rows.length < largestSlice ? undefined : rows.at(-1);
  const events = rows.map((license) => (lead === 0 ? expired(license) : expiring(license, now)));
  if (events.length > 0) await client.query(insertEvents, [eventsAsJson(events, now)]);
  if (last !== undefined) await client.query(note, [kind, last.expiresAt, last.id]);
  // The end of a scan never goes back a little, when instances' clocks differ.
  else if (until > done.doneUntil) await client.query(note, [kind, until, highestId]);
  return { developers: rows.map(({ developerId }) => developerId), isDone: last === undefined };
}

interface Expiring {
  readonly id: string;
  readonly developerId: string;
  readonly applicationId: string;
  readonly keyPrefix: string;
  readonly expiresAt: Date;
  readonly graceSeconds: number;
}

const about = ({ id, developerId, applicationId }: Expiring) => ({
  developerId,
  applicationId,
  subjectId: id,
});

const expiring = (license: Expiring, now: Date): NewEvent => ({
  ...about(license),
  type: 'license.expiring',
  data: {
    keyPrefix: license.keyPrefix,
    expiresAt: license.expiresAt.toISOString(),
    daysLeft: Math.ceil((license.expiresAt.getTime() - now.getTime()) / day),
  },
});

const expired = (license: Expiring): NewEvent => ({
  ...about(license),
  type: 'license.expired',
  data: {
    keyPrefix: license.keyPrefix,
    expiresAt: license.expiresAt.toISOString(),
    graceEndsAt:
      license.graceSeconds === 0
        ? null
        : new Date(license.expiresAt.getTime() + license.graceSeconds * 1000).toISOString(),
  },
});

const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const begin = `INSERT INTO event_scans (kind, done_until, done_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`;
const lock = `
  SELECT done_until AS "doneUntil", done_id AS "doneId" FROM event_scans WHERE kind = $1 FOR UPDATE SKIP LOCKED`;
const note = 'UPDATE event_scans SET done_until = $2, done_id = $3 WHERE kind = $1';

const find = `
  SELECT licenses.id, applications.developer_id AS "developerId", application_id AS "applicationId",
    key_prefix AS "keyPrefix", expires_at AS "expiresAt", grace_seconds AS "graceSeconds"
  FROM licenses JOIN applications ON applications.id = application_id
    JOIN developers ON developers.id = applications.developer_id
  WHERE expires_at IS NOT NULL AND (expires_at, licenses.id) > ($1, $2::uuid) AND expires_at <= $3 AND expires_at > $4
    AND licenses.status = 'active' AND clock_stopped_at IS NULL
    AND ${isNotDeletedOwner} AND ${isNotUnderWay}
  ORDER BY expires_at, licenses.id LIMIT $5`;
