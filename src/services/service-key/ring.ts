import type { KeyObject } from 'node:crypto';
import type { Pool } from 'pg';
import { sha256 } from '../../crypto/hash.ts';
import type { Keyring } from '../../crypto/keyring.ts';
import { nativePrimitives } from '../../crypto/native-primitives.ts';
import { openServiceKey, sealServiceKey } from '../../crypto/sealed-service-key.ts';
import { generateX25519, x25519PrivateKey } from '../../crypto/x25519.ts';
import { type EphemeralStore, StoreUnavailableError } from '../../ephemeral/store.ts';
import { keyScheduleContext } from '../../protocol/v2/hpke.ts';
import type { ServiceKey } from '../../protocol/v2/key-statement.ts';
import { requestInfo } from '../../protocol/v2/message.ts';
import {
  dateServiceKeysBack,
  destroyServiceKeys,
  insertServiceKey,
  readServiceKeys,
  type ServiceKeyRow,
  type ServiceKeyRows,
} from './rows.ts';

const hour = 3_600;
/** A key is replaced at this age, in seconds. */
export const replacedAfter = 24 * hour;
/**
 * At its start, a process replaces a key of this age, in seconds. Its database may have been set back to an earlier state:
 * clients that hold a statement from after that state accept only a newer one. Processes that start together share the new
 * key.
 */
const replacedAtStartAfter = 600;
/** What its statement says. Clients treat it as advice: they do not trust their own clocks. */
const validFor = 72 * hour;
/** A key is destroyed at this age, in seconds. */
const destroyedAfter = validFor + hour;
/** More than a day and some restarts need. A process that restarts in a loop adds a key each time. */
const maxKeys = 32;
/** A clock that was set back by less than this does not matter, in seconds. */
const clockTolerance = 300;
/** A new key is announced after this time, in seconds, so that the other instances have it by then. */
const announcedAfter = 10;
/** Attempts to add a key: another instance may add one first, in another epoch. */
const maxAttempts = 3;
/** Unknown key ids, which anyone can send, read the database at most this often, in milliseconds. */
const minReadInterval = 1_000;

/** A service key with what is computed once for all requests to it. */
export interface RingKey extends ServiceKey {
  readonly privateKey: KeyObject;
  readonly scheduleContext: Uint8Array;
}

interface LoadedKey extends RingKey {
  /** Hexadecimal SHA-256 of the epoch in which it was created. */
  readonly epoch: string;
  /** Seconds, when it was read. */
  readonly age: number;
}

/**
 * The service's encryption keys, which all instances share through the database. A key that was created before the replay
 * guard lost its memory is unknown from then on: else a recorded request would be accepted again, at once or, if the clock
 * was set back, when the time of the recording comes again. Clients then fetch a statement of a new key.
 */
export interface ServiceKeyRing {
  /** The key that statements announce. @throws {StoreUnavailableError} if no key can be used */
  announced(): Promise<RingKey>;
  /** The same without reading the database; null if no key in memory can be used. */
  lastAnnounced(): RingKey | null;
  /** Finds the key that a request names; null if it is unknown or may no longer be used. */
  find(keyId: number): Promise<RingKey | null>;
  /** Reads the keys, and replaces, dates and destroys them as is due. Concurrent calls share one run. */
  refresh(): Promise<void>;
  /** Age of the newest key in seconds, for metrics; null if there is none. */
  newestAge(): number | null;
}

export interface ServiceKeyRingOptions {
  readonly pool: Pool;
  readonly keyring: Keyring;
  readonly store: Pick<EphemeralStore, 'epoch'>;
  /** Milliseconds that always rise. Tests replace it. */
  readonly monotonic?: () => number;
}

export function createServiceKeyRing({
  pool,
  keyring,
  store,
  monotonic = () => performance.now(),
}: ServiceKeyRingOptions): ServiceKeyRing {
  let keys: readonly LoadedKey[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  let refreshing: Promise<void> | null = null;
  let isStarting = true;
  let epoch = observe(store.epoch);

  function currentEpoch(): Epoch {
    const name = store.epoch;
    if (name !== epoch.name) epoch = observe(name);
    return epoch;
  }

  const secondsSince = (time: number): number => (monotonic() - time) / 1000;
  const ageOf = (key: LoadedKey): number => key.age + secondsSince(readAt);

  function mayBeUsed(key: LoadedKey): boolean {
    return key.epoch === currentEpoch().sha256 && ageOf(key) < destroyedAfter;
  }

  /** The newest key of this epoch that other instances have had time to read. */
  function lastAnnounced(): LoadedKey | null {
    const usable = keys.filter(mayBeUsed);
    return usable.find((key) => ageOf(key) >= announcedAfter) ?? usable.at(-1) ?? null;
  }

  async function read(): Promise<ServiceKeyRows> {
    const found = await readServiceKeys(pool);
    keys = found.rows.flatMap((row) => load(keyring, row));
    readAt = monotonic();
    return found;
  }

  async function renew(): Promise<void> {
    const known = keys[0]?.notBefore ?? 0;
    let found = await read();
    if (found.rows.some(({ age }) => age < -clockTolerance)) {
      await dateServiceKeysBack(pool, clockTolerance);
      found = await read();
    }
    for (let attempt = 0; attempt < maxAttempts && isReplacementDue(known); attempt += 1) {
      await replace(found, known);
      found = await read();
    }
    isStarting = false;
    if (found.rows.length > maxKeys || found.rows.some(({ age }) => age >= destroyedAfter)) {
      await destroyServiceKeys(pool, { maxAge: destroyedAfter, maxKeys });
      await read();
    }
  }

  /** Also if the database has lost the newest key, as after a failover: clients refuse to go back to an earlier one. */
  function isReplacementDue(known: number): boolean {
    const newest = keys.find((key) => key.epoch === currentEpoch().sha256);
    const maxAge = isStarting ? replacedAtStartAfter : replacedAfter;
    return newest === undefined || newest.age >= maxAge || (keys[0]?.notBefore ?? 0) < known;
  }

  async function replace({ rows, now }: ServiceKeyRows, known: number): Promise<void> {
    const taken = new Set(rows.map(({ keyId }) => keyId));
    // The same for every instance that has read the same rows, so that the primary key lets one of them win.
    let keyId = rows[0] === undefined ? 0 : (rows[0].keyId + 1) % 256;
    while (taken.has(keyId)) keyId = (keyId + 1) % 256;
    const pair = generateX25519();
    const notBefore = Math.max(now, known + 1, (rows[0]?.notBefore ?? 0) + 1);
    await insertServiceKey(pool, {
      keyId,
      publicKey: pair.publicKey,
      privateKeyEncrypted: sealServiceKey(keyring, keyId, pair),
      notBefore,
      notAfter: notBefore + validFor,
      replayEpochSha256: Buffer.from(currentEpoch().sha256, 'hex'),
    });
  }

  function refresh(): Promise<void> {
    refreshing ??= renew().finally(() => {
      refreshing = null;
    });
    return refreshing;
  }

  return {
    refresh,
    lastAnnounced,
    async announced() {
      if (!keys.some(mayBeUsed)) await refresh();
      const key = lastAnnounced();
      if (key === null) throw new StoreUnavailableError('There is no key to encrypt requests to.');
      return key;
    },
    async find(keyId) {
      const lookUp = () => keys.find((key) => key.keyId === keyId && mayBeUsed(key)) ?? null;
      const found = lookUp();
      if (found !== null || monotonic() - readAt < minReadInterval) return found;
      await refresh();
      return lookUp();
    },
    newestAge: () => {
      const newest = keys[0];
      return newest === undefined ? null : ageOf(newest);
    },
  };
}

/** What identifies the replay guard's memory. */
interface Epoch {
  readonly name: string;
  readonly sha256: string;
}

const observe = (name: string): Epoch => ({ name, sha256: hexOf(sha256(name)) });

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Empty for a key of an unknown master secret. Another instance may have that secret, so the row is left alone. */
function load(keyring: Keyring, row: ServiceKeyRow): LoadedKey[] {
  const opened = openServiceKey(keyring, row);
  if (opened === null) return [];
  const { keyId, publicKey, notBefore, notAfter, replayEpochSha256, age } = row;
  return [
    {
      keyId,
      publicKey: new Uint8Array(publicKey),
      notBefore,
      notAfter,
      epoch: hexOf(replayEpochSha256),
      age,
      privateKey: x25519PrivateKey({ publicKey, privateKey: opened.privateKey }),
      scheduleContext: keyScheduleContext(requestInfo(keyId), nativePrimitives),
    },
  ];
}
