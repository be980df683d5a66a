import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Keyring } from '../../crypto/keyring.ts';
import { sealPrivateKey, tryPrivateKey } from '../../crypto/sealed-private-key.ts';
import { isLockTimeout, isTransactionVictim } from '../../db/errors.ts';

/** How the private keys of all applications are encrypted. */
export interface KeyCounts {
  /** Under the current master secret. */
  readonly current: number;
  /** Under one before it. */
  readonly previous: number;
  /** Applications whose keys open under none of them. */
  readonly unreadable: readonly string[];
}

export interface Rotation {
  /** How many this call has encrypted anew. */
  readonly rotated: number;
  /** What was found after it. */
  readonly left: KeyCounts;
}

export interface RotationOptions {
  readonly batchSize?: number;
  /** Between two batches. */
  readonly signal?: AbortSignal;
  /** Called with how many applications of this pass have been looked at. */
  readonly onProgress?: (seen: number) => void;
}

interface Row {
  readonly id: string;
  readonly sealed: Buffer;
}

/** Rows in one statement: some 60 bytes each, held for a few milliseconds. */
const defaultBatchSize = 500;
/** While instances run that make applications under an older secret, a pass can find some that the one before missed. */
const mostPasses = 10;
/** How often a batch is tried that others hold rows of. */
const mostTries = 20;
const pauseMilliseconds = 100;
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Encrypts the private keys of all applications under the current master secret. A batch is one statement, which
 * changes only rows that are as they were read, so that it may be killed at any moment, run again, and run by several
 * at once; instances that have both secrets go on meanwhile, and what they have cached stays right, as no key itself
 * is changed. From the newest to the oldest, over again until a pass finds nothing to do.
 */
export async function rotateApplicationKeys(
  pool: Pool,
  keyring: Keyring,
  options: RotationOptions = {},
): Promise<Rotation> {
  let rotated = 0;
  for (let pass = 1; ; pass += 1) {
    const counts = { current: 0, previous: 0, unreadable: [] as string[] };
    let changed = 0;
    for await (const rows of batchesOf(pool, options)) {
      const old = sort(rows, keyring, counts);
      changed += await patiently(() => replace(pool, keyring, old));
    }
    rotated += changed;
    if (counts.previous === 0 || pass === mostPasses) return { rotated, left: counts };
  }
}

/** Counts, and changes nothing. */
export async function countApplicationKeys(
  pool: Pool,
  keyring: Keyring,
  options: RotationOptions = {},
): Promise<KeyCounts> {
  const counts = { current: 0, previous: 0, unreadable: [] as string[] };
  for await (const rows of batchesOf(pool, options)) sort(rows, keyring, counts);
  return counts;
}

async function* batchesOf(pool: Pool, options: RotationOptions): AsyncGenerator<readonly Row[]> {
  const { batchSize = defaultBatchSize, signal, onProgress } = options;
  let seen = 0;
  for (let before = lastId; ; ) {
    signal?.throwIfAborted();
    const { rows } = await pool.query<Row>(
      `SELECT id, private_key_encrypted AS sealed FROM applications WHERE id < $1 ORDER BY id DESC LIMIT $2`,
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

interface OldKey extends Row {
  readonly seed: Uint8Array;
}

/** Counts rows by what they are encrypted under; answers those that are to be encrypted anew. */
function sort(
  rows: readonly Row[],
  keyring: Keyring,
  counts: { current: number; previous: number; unreadable: string[] },
): OldKey[] {
  const old: OldKey[] = [];
  for (const row of rows) {
    const opened = tryPrivateKey(keyring, row.id, row.sealed);
    if (opened === null) counts.unreadable.push(row.id);
    else if (opened.isCurrent) counts.current += 1;
    else {
      counts.previous += 1;
      old.push({ ...row, seed: opened.seed });
    }
  }
  return old;
}

async function replace(pool: Pool, keyring: Keyring, rows: readonly OldKey[]): Promise<number> {
  if (rows.length === 0) return 0;
  const { rowCount } = await pool.query(
    `UPDATE applications SET private_key_encrypted = key.sealed
     FROM unnest($1::uuid[], $2::bytea[], $3::bytea[]) AS key (id, found, sealed)
     WHERE applications.id = key.id AND applications.private_key_encrypted = key.found`,
    [
      rows.map(({ id }) => id),
      rows.map(({ sealed }) => sealed),
      rows.map(({ id, seed }) => Buffer.from(sealPrivateKey(keyring, id, seed))),
    ],
  );
  return rowCount ?? 0;
}

/** Again, while others hold rows for long or two of us hold what the other waits for. */
async function patiently(work: () => Promise<number>): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === mostTries || !(isLockTimeout(error) || isTransactionVictim(error))) throw error;
      await sleep(pauseMilliseconds);
    }
  }
}
