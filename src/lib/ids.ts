import { v7 } from 'uuid';
import { randomBytes } from './random-bytes.ts';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type DeveloperId = Branded<'DeveloperId'>;
export type ApplicationId = Branded<'ApplicationId'>;
export type LicenseId = Branded<'LicenseId'>;

/** Maximum time by which ids may run ahead of a wall clock that was set back, in milliseconds. */
export const maxCatchUp = 60_000;

/** The moment since which this process's ids increase strictly. */
export interface IdsBeginning {
  /** The lowest timestamp among these ids, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/**
 * Generates a UUIDv7 (RFC 9562 §5.7). Ids are ordered by creation time, on which keyset pagination and log partitions
 * rely. Within one process they increase strictly: a counter orders ids of the same millisecond, and if the wall clock
 * steps back, their timestamp stands still until the clock has caught up (RFC 9562 §6.2). If that would take longer than a
 * minute, ids restart from the clock's current time; see `idsBeginning`.
 */
export function newId(): string {
  const now = Date.now();
  const random = randomBytes(16);
  if (now < last.msecs - maxCatchUp) {
    beginning = { at: now };
    last = { msecs: now, seq: random.readUInt32BE(6) >>> 1 };
  } else if (now > last.msecs) last = { msecs: now, seq: random.readUInt32BE(6) >>> 1 };
  else if (last.seq < maxSequence) last.seq += 1;
  else last = { msecs: last.msecs + 1, seq: 0 };
  return v7({ ...last, random });
}

/** Generates ids that increase strictly among themselves, even if the clock changes meanwhile. */
export function newIds(amount: number): string[] {
  for (;;) {
    const before = idsBeginning();
    const ids = Array.from({ length: amount }, newId);
    if (idsBeginning() === before) return ids;
  }
}

/**
 * The moment since which ids increase strictly: the start of the process, or the last restart after the clock was set
 * back. Each restart creates a new object. Ids from before it may be higher than later ones.
 */
export const idsBeginning = (): IdsBeginning => beginning;

let beginning: IdsBeginning = { at: Date.now() };

/** Timestamp and counter of the last id. The counter starts at a random value in its lower half each millisecond. */
let last = { msecs: 0, seq: 0 };
const maxSequence = 2 ** 32 - 1;

/** An id's creation time in milliseconds since the Unix epoch, by the clock of the process that created it. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text is a UUID in canonical form (lower case, RFC 9562 §4). */
export function isId(text: string): boolean {
  return uuidPattern.test(text);
}
