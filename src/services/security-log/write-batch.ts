import type pg from 'pg';
import { inTransaction } from '../../db/in-transaction.ts';
import { liftStatementTimeout } from '../../db/session-settings.ts';
import { identifiedAsJson } from '../outbox/record.ts';
import type { SecurityLogRow } from './entry.ts';
import { insertEntries } from './insert-entries.ts';
import { createToldRefusals, insertRefusals, type ToldRefusals } from './refusals.ts';
import { withoutRepeats } from './repeats.ts';
import type { LastUses, Uses } from './uses.ts';
import { addCounts } from './validation-counts.ts';
import { writeAddresses, writeDevices } from './write-uses.ts';

/** Short, because the entries of all developers wait for this batch, and a deletion locks its application for long. */
const lockTimeoutMilliseconds = 1_000;

/**
 * The triggers that count validations and note entries for searches leave both to this transaction. Every statement looks up
 * single rows: without the setting, PostgreSQL reads a whole table of fifty thousand licenses to find a thousand.
 */
const begin = `BEGIN; ${liftStatementTimeout}; SET LOCAL lock_timeout = '${lockTimeoutMilliseconds}ms';
  SET LOCAL latchkey.log_is_counted = 'on'; SET LOCAL enable_seqscan = off`;

/** What is written in one transaction. */
export interface Batch {
  readonly entries: readonly SecurityLogRow[];
  readonly uses: Uses;
  /** Whether some of the entries may be stored already, because an earlier write ended without an answer. */
  readonly mayBeStored?: boolean;
  /** Whether to omit entries that only repeat a stored one of the same hour. */
  readonly thinned?: boolean;
}

/**
 * Writes a batch of any size, and the events of its refusals, in a few statements of one transaction. Entries and counts
 * whose application or developer has been deleted are skipped instead of failing the batch.
 * @returns the last uses of licenses and devices that other transactions have locked
 * @throws {Error} of PostgreSQL, when an application is locked for too long: then nothing is stored
 */
export async function writeBatch(
  pool: pg.Pool,
  { entries, uses, mayBeStored = false, thinned = false }: Batch,
  told: ToldRefusals = createToldRefusals(),
): Promise<LastUses> {
  const refusals = told.eventsOf(entries);
  const skipped = await inTransaction(
    pool,
    async (client) => {
      const present = await lockApplications(client, [
        ...entries,
        ...uses.counts.flatMap(({ counts }) => counts),
      ]);
      const own = entries.filter(({ applicationId }) => applicationId !== null && present.has(applicationId));
      const kept = thinned ? await withoutRepeats(client, own) : own;
      if (kept.length > 0) await insertEntries(client, kept, mayBeStored);
      for (const counts of uses.counts) await addCounts(client, counts, present);
      if (refusals.length > 0) await client.query(insertRefusals, [identifiedAsJson(refusals)]);
      return {
        addresses: only(uses.addresses, await writeAddresses(client, uses.addresses)),
        devices: only(uses.devices, await writeDevices(client, uses.devices)),
      };
    },
    begin,
  );
  told.note(refusals);
  return skipped;
}

function only<Value>(map: ReadonlyMap<string, Value>, keys: readonly string[]): ReadonlyMap<string, Value> {
  const kept = new Set(keys);
  return new Map([...map].filter(([key]) => kept.has(key)));
}

/**
 * Locks the applications of entries, so that they exist until the commit: their log is deleted with them. Developers are
 * locked first, like a deletion does, and both in order of their ids: neither a deletion nor another batch can deadlock
 * with this one.
 * @returns the ids of those that exist
 */
async function lockApplications(
  client: pg.ClientBase,
  entries: readonly Pick<SecurityLogRow, 'developerId' | 'applicationId'>[],
): Promise<ReadonlySet<string>> {
  if (entries.length === 0) return new Set();
  const { rows } = await client.query<{ id: string }>(lockParents, [
    [...new Set(entries.map(({ developerId }) => developerId))],
    [...new Set(entries.map(({ applicationId }) => applicationId))],
  ]);
  return new Set(rows.map(({ id }) => id));
}

const lockParents = `
  WITH developer AS (
    SELECT id FROM developers WHERE id = ANY($1::uuid[]) ORDER BY id FOR KEY SHARE
  )
  SELECT applications.id FROM applications JOIN developer ON developer.id = applications.developer_id
  WHERE applications.id = ANY($2::uuid[]) ORDER BY applications.id FOR KEY SHARE OF applications`;
