import type pg from 'pg';
import { newId, timeOfId } from '../../lib/ids.ts';

/** How often an application gave a verdict in a minute. */
export interface ValidationCount {
  readonly developerId: string;
  readonly applicationId: string;
  /** Minutes since the Unix epoch. */
  readonly minute: number;
  readonly code: string;
  readonly count: number;
}

/** Counts that are added all at once, and only once, however often they are written. */
export interface ValidationCounts {
  readonly id: string;
  readonly counts: readonly ValidationCount[];
  /** Whether they may have been added already, because an earlier write ended without an answer. */
  readonly mayBeAdded: boolean;
}

/** Counts that are being collected. */
export interface CollectedCounts {
  /** Counts a validation in the minute of an id. */
  add(entry: Pick<ValidationCount, 'developerId' | 'applicationId'>, code: string, id: string): void;
  readonly size: number;
  /**
   * Takes the counts that may have been added if there are some, else those that were collected since.
   * @param locked applications whose counts stay
   */
  take(locked: ReadonlySet<string>): readonly ValidationCounts[];
  /** Puts back counts that were taken. Those that are certain not to have been added are taken anew, under other ids. */
  putBack(unwritten: readonly ValidationCounts[]): void;
}

/**
 * A write that ended without an answer may have added its counts. They keep their id and are not added to, so that trying
 * again adds them once.
 * @param max further applications, minutes and verdicts are not counted
 */
export function collectCounts(max: number): CollectedCounts {
  let tried: readonly ValidationCounts[] = [];
  let collected = new Map<string, ValidationCount>();

  const collect = (more: ValidationCount): void => {
    const key = `${more.applicationId} ${more.minute} ${more.code}`;
    const before = collected.get(key);
    if (before === undefined && collected.size >= max) return;
    collected.set(key, { ...more, count: (before?.count ?? 0) + more.count });
  };

  function takeCollected(locked: ReadonlySet<string>): readonly ValidationCounts[] {
    const counts = [...collected.values()].filter(({ applicationId }) => !locked.has(applicationId));
    if (counts.length === 0) return [];
    collected = new Map([...collected].filter(([, { applicationId }]) => locked.has(applicationId)));
    return [{ id: newId(), counts, mayBeAdded: false }];
  }

  return {
    add({ developerId, applicationId }, code, id) {
      collect({ developerId, applicationId, minute: Math.floor(timeOfId(id) / 60_000), code, count: 1 });
    },
    get size() {
      return tried.length + collected.size;
    },
    take(locked) {
      const isFree = ({ counts }: ValidationCounts) =>
        !counts.some(({ applicationId }) => locked.has(applicationId));
      const taken = tried.filter(isFree);
      tried = tried.filter((each) => !isFree(each));
      return taken.length > 0 ? taken : takeCollected(locked);
    },
    putBack(unwritten) {
      tried = [...tried, ...unwritten.filter(({ mayBeAdded }) => mayBeAdded)];
      for (const { counts, mayBeAdded } of unwritten)
        if (!mayBeAdded) for (const each of counts) collect(each);
    },
  };
}

/**
 * Adds counts unless they were added before.
 * @param applicationIds locked applications. Counts of others are omitted, because they have been deleted
 */
export async function addCounts(
  client: pg.ClientBase,
  { id, counts }: Pick<ValidationCounts, 'id' | 'counts'>,
  applicationIds: ReadonlySet<string>,
): Promise<void> {
  const kept = counts.filter(({ applicationId }) => applicationIds.has(applicationId));
  if (kept.length === 0) return;
  await client.query(addOnce, [
    id,
    kept.map(({ developerId }) => developerId),
    kept.map(({ applicationId }) => applicationId),
    kept.map(({ minute }) => minute),
    kept.map(({ code }) => code),
    kept.map(({ count }) => count),
  ]);
}

// In order of their key, so that two batches never wait for each other's counts.
const addOnce = `
  WITH unit AS (
    INSERT INTO added_counts (id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id
  )
  INSERT INTO validation_counts AS counted (developer_id, application_id, minute, code, count)
  SELECT t.* FROM unit, unnest($2::uuid[], $3::uuid[], $4::integer[], $5::text[], $6::bigint[])
    AS t (developer_id, application_id, minute, code, count)
  ORDER BY t.developer_id, t.application_id, t.minute, t.code
  ON CONFLICT (developer_id, application_id, minute, code) DO UPDATE SET count = counted.count + excluded.count`;
