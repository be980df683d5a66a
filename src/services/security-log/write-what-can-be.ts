import type { Pool } from 'pg';
import type { Logger } from '../../lib/log.ts';
import type { ToldRefusals } from './refusals.ts';
import { countUses, type LastUses, noUses } from './uses.ts';
import { type Batch, writeBatch } from './write-batch.ts';

interface Outcome {
  /** Number of dropped entries. */
  readonly dropped: number;
  /** Last uses of licenses and devices that other transactions have locked. */
  readonly skipped: LastUses;
}

interface Target {
  readonly pool: Pool;
  readonly log: Logger;
  readonly told: ToldRefusals;
}

/**
 * Writes a batch. If the database refuses its data, each half is tried separately, so that only the entries that cannot
 * be stored are dropped, and the others are not delayed. So are uses, but all at once.
 */
export async function writeWhatCanBe(batch: Batch, to: Target): Promise<Outcome> {
  const { entries, uses } = batch;
  try {
    return { dropped: 0, skipped: await writeBatch(to.pool, batch, to.told) };
  } catch (error) {
    if (!isDataRefused(error)) throw error;
    if (entries.length === 0) {
      to.log.error({ err: error, lostUses: countUses(uses) }, 'dropped uses that cannot be stored');
      return { dropped: 0, skipped: noUses };
    }
    if (entries.length === 1 && countUses(uses) > 0) {
      // Either may be what is refused.
      return writeBoth({ ...batch, uses: noUses }, { entries: [], uses }, to);
    }
    if (entries.length === 1) {
      to.log.error(
        { err: error, event: entries[0]?.event },
        'dropped a security log entry that cannot be stored',
      );
      return { dropped: 1, skipped: noUses };
    }
    const middle = Math.ceil(entries.length / 2);
    return writeBoth(
      { ...batch, entries: entries.slice(0, middle), uses: noUses },
      { ...batch, entries: entries.slice(middle) },
      to,
    );
  }
}

/** @param withUses the only one that has uses */
async function writeBoth(withoutUses: Batch, withUses: Batch, to: Target): Promise<Outcome> {
  const { dropped } = await writeWhatCanBe(withoutUses, to);
  const outcome = await writeWhatCanBe(withUses, to);
  return { ...outcome, dropped: dropped + outcome.dropped };
}

/** PostgreSQL's classes 22 (data exception) and 23 (integrity constraint violation). */
const isDataRefused = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /^2[23]/.test(error.code);
