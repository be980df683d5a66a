import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Keyring } from '../../crypto/keyring.ts';
import { sealPrivateKey, tryPrivateKey } from '../../crypto/sealed-private-key.ts';
import { isLockTimeout, isTransactionVictim } from '../../db/errors.ts';

/** Counts of applications' private keys by the master secret that they are encrypted with. */
export interface KeyCounts {
  /** Encrypted with the current secret. */
  readonly current: number;
  /** Encrypted with a previous secret. */
  readonly previous: number;
  /** Ids of applications whose keys none of the secrets decrypts. */
  readonly unreadable: readonly string[];
}

export interface Rotation {
  /** Number of keys that this call re-encrypted. */
  readonly rotated: number;
  /** Counts of the last pass. */
  readonly left: KeyCounts;
}

export interface RotationOptions {
  readonly batchSize?: number;
  /** Checked between batches. */
  readonly signal?: AbortSignal;
  /** Called with the number of applications processed in this pass. */
  readonly onProgress?: (seen: number) => void;
}

interface Row {
  readonly id: string;
  readonly sealed: Buffer;
}

/** Rows per statement: about 60 bytes each, locked for a few milliseconds. */
const defaultBatchSize = 500;
/** Several passes may be needed while instances with an older secret still create applications. */
const maxPasses = 10;
/** Attempts per batch while other transactions hold locks on its rows. */
const maxAttempts = 20;
const pauseMilliseconds = 100;
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Re-encrypts the private keys of all applications with the current master secret, from the newest to the oldest
 * application, in passes until one finds nothing to do. Each batch is one statement that changes only rows that are
 * unchanged since they were read. So rotation can be killed at any time, repeated, and run concurrently. Instances that
 * have both secrets keep running, and their caches stay valid, because the keys themselves do not change.
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
      const old = countAndFindOld(rows, keyring, counts);
      changed += await withRetries(() => replace(pool, keyring, old));
    }
    rotated += changed;
    if (counts.previous === 0 || pass === maxPasses) return { rotated, left: counts };
  }
}

/** Counts the keys without changing any. */
export async function countApplicationKeys(
  pool: Pool,
  keyring: Keyring,
  options: RotationOptions = {},
): Promise<KeyCounts> {
  const counts = { current: 0, previous: 0, unreadable: [] as string[] };
  for await (const rows of batchesOf(pool, options)) countAndFindOld(rows, keyring, counts);
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

/** Adds rows to the counts and returns those to re-encrypt. */
function countAndFindOld(
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
