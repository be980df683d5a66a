import { v7 } from 'uuid';
import { randomBytes } from './random-bytes.ts';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type DeveloperId = Branded<'DeveloperId'>;
export type ApplicationId = Branded<'ApplicationId'>;
export type LicenseId = Branded<'LicenseId'>;

/** How far ids may run ahead of a wall clock that was set back, in milliseconds. */
export const longestCatchUp = 60_000;

/** Since when the ids of this process increase strictly. */
export interface IdsBeginning {
  /** The lowest time in them, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/**
 * A new UUIDv7 (RFC 9562 §5.7): ordered by creation time, so keyset pages and log partitions follow the id. Those of
 * one process increase strictly: within a millisecond by a counter, and where the wall clock steps back the time in
 * them stands still until it has caught up (RFC 9562 §6.2). If that would take longer than a minute, they restart from the
 * current time of the clock: see `idsBeginning`.
 */
export function newId(): string {
  const now = Date.now();
  const random = randomBytes(16);
  if (now < last.msecs - longestCatchUp) {
    beginning = { at: now };
    last = { msecs: now, seq: random.readUInt32BE(6) >>> 1 };
  } else if (now > last.msecs) last = { msecs: now, seq: random.readUInt32BE(6) >>> 1 };
  else if (last.seq < largestSequence) last.seq += 1;
  else last = { msecs: last.msecs + 1, seq: 0 };
  return v7({ ...last, random });
}

/** Ids that increase strictly among themselves, even if the clock changes meanwhile. */
export function newIds(amount: number): string[] {
  for (;;) {
    const before = idsBeginning();
    const ids = Array.from({ length: amount }, newId);
    if (idsBeginning() === before) return ids;
  }
}

/**
 * Since when the ids increase: since the start of this process, or since they last restarted because the clock was set back.
 * It is a new object after each restart. Earlier ids may be higher than later ones.
 */
export const idsBeginning = (): IdsBeginning => beginning;

let beginning: IdsBeginning = { at: Date.now() };

/** What the last id was made of: the counter begins anew, somewhere in its lower half, with each millisecond. */
let last = { msecs: 0, seq: 0 };
const largestSequence = 2 ** 32 - 1;

/** When an id was made, in milliseconds since the Unix epoch, by the clock of the process that made it. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True for a UUID in its one canonical spelling (lower case, RFC 9562 §4). */
export function isId(text: string): boolean {
  return uuidPattern.test(text);
}
