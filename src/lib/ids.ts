import { v7 } from 'uuid';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type DeveloperId = Branded<'DeveloperId'>;
export type ApplicationId = Branded<'ApplicationId'>;
export type LicenseId = Branded<'LicenseId'>;

/**
 * A new UUIDv7 (RFC 9562 §5.7): ordered by creation time, so keyset pages and log partitions follow the id. Those of
 * one process increase strictly: within a millisecond by a counter, and where the wall clock steps back the time in
 * them stands still until it has caught up (RFC 9562 §6.2).
 */
export function newId(): string {
  return v7();
}

/** When an id was made, in milliseconds since the Unix epoch, by the clock of the process that made it. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True for a UUID in its one canonical spelling (lower case, RFC 9562 §4). */
export function isId(text: string): boolean {
  return uuidPattern.test(text);
}
