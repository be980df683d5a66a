import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Keyring } from '../crypto/keyring.ts';
import { isLockTimeout, isTransactionVictim } from '../db/errors.ts';

/** Counts of sealed values by the master secret that they are encrypted with. */
export interface SealedCounts {
  /** Encrypted with the current secret. */
  readonly current: number;
  /** Encrypted with a previous secret. */
  readonly previous: number;
  /** Ids of rows whose values none of the secrets decrypts. */
  readonly unreadable: readonly string[];
}

export interface Rotation {
  /** Number of values that this call re-encrypted. */
  readonly rotated: number;
  /** Counts of the last pass. */
  readonly left: SealedCounts;
}

export interface RotationOptions {
  readonly batchSize?: number;
  /** Checked between batches. */
  readonly signal?: AbortSignal;
  /** Called with the number of rows processed in this pass. */
  readonly onProgress?: (seen: number) => void;
}

/** A column with values that are encrypted with a key of the keyring. The table has UUIDv7 ids. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /**
   * Decrypts a value with the current or a previous master secret; null if none of them fits.
   * @returns whether it was the current one, and the value encrypted with the current one
   */
  reseal(
    keyring: Keyring,
    id: string,
    sealed: Uint8Array,
  ): { readonly isCurrent: boolean; readonly sealAgain: () => Uint8Array } | null;
}

interface Row {
  readonly id: string;
  readonly sealed: Buffer;
}

/** Rows per statement: about 60 bytes each, locked for a few milliseconds. */
const defaultBatchSize = 500;
/** Several passes may be needed while instances with an older secret still create rows. */
const maxPasses = 10;
/** Attempts per batch while other transactions hold locks on its rows. */
const maxAttempts = 20;
const pauseMilliseconds = 100;
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Re-encrypts all values of a column with the current master secret, from the newest to the oldest row, in passes until one
 * finds nothing to do. Each batch is one statement that changes only rows that are unchanged since they were read. So
 * rotation can be killed at any time, repeated, and run concurrently. Instances that have both secrets keep running, and
 * their caches stay valid, because the values themselves do not change.
 */
export async function rotateSealed(
  pool: Pool,
  keyring: Keyring,
  column: SealedColumn,
  options: RotationOptions = {},
): Promise<Rotation> {
  let rotated = 0;
  for (let pass = 1; ; pass += 1) {
    const counts = noCounts();
    let changed = 0;
    for await (const rows of batchesOf(pool, column, options)) {
      const old = countAndFindOld(rows, keyring, column, counts);
      changed += await withRetries(() => replace(pool, column, old));
    }
    rotated += changed;
    if (counts.previous === 0 || pass === maxPasses) return { rotated, left: counts };
  }
}

/** Counts the values without changing any. */
export async function countSealed(
  pool: Pool,
  keyring: Keyring,
  column: SealedColumn,
  options: RotationOptions = {},
): Promise<SealedCounts> {
  const counts = noCounts();
  for await (const rows of batchesOf(pool, column, options)) countAndFindOld(rows, keyring, column, counts);
  return counts;
}

const noCounts = () => ({ current: 0, previous: 0, unreadable: [] as string[] });

async function* batchesOf(
  pool: Pool,
  { table, column }: SealedColumn,
  options: RotationOptions,
): AsyncGenerator<readonly Row[]> {
  const { batchSize = defaultBatchSize, signal, onProgress } = options;
  let seen = 0;
  for (let before = lastId; ; ) {
    signal?.throwIfAborted();
    const { rows } = await pool.query<Row>(
      `SELECT id, ${column} AS sealed FROM ${table} WHERE id < $1 ORDER BY id DESC LIMIT $2`,
      [before, batchSize],
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    seen += rows.length;
    onProgress?.(seen);
    before = last.id;
  }
}

interface OldValue extends Row {
  readonly sealedAgain: Uint8Array;
}

/** Adds rows to the counts and returns those to replace. */
function countAndFindOld(
  rows: readonly Row[],
  keyring: Keyring,
  { reseal }: SealedColumn,
  counts: { current: number; previous: number; unreadable: string[] },
): OldValue[] {
  const old: OldValue[] = [];
  for (const row of rows) {
    const opened = reseal(keyring, row.id, row.sealed);
    if (opened === null) counts.unreadable.push(row.id);
    else if (opened.isCurrent) counts.current += 1;
    else {
      counts.previous += 1;
      old.push({ ...row, sealedAgain: opened.sealAgain() });
    }
  }
  return old;
}

async function replace(
  pool: Pool,
  { table, column }: SealedColumn,
  rows: readonly OldValue[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const { rowCount } = await pool.query(
    `UPDATE ${table} SET ${column} = value.sealed
     FROM unnest($1::uuid[], $2::bytea[], $3::bytea[]) AS value (id, found, sealed)
     WHERE ${table}.id = value.id AND ${table}.${column} = value.found`,
    [
      rows.map(({ id }) => id),
      rows.map(({ sealed }) => sealed),
      rows.map(({ sealedAgain }) => Buffer.from(sealedAgain)),
    ],
  );
  return rowCount ?? 0;
}

/** Retries after lock timeouts and deadlocks. */
async function withRetries(work: () => Promise<number>): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === maxAttempts || !(isLockTimeout(error) || isTransactionVictim(error))) throw error;
      await sleep(pauseMilliseconds);
    }
  }
}
