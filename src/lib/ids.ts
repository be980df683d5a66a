import { v7 } from 'uuid';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type DeveloperId = Branded<'DeveloperId'>;
export type ApplicationId = Branded<'ApplicationId'>;
export type LicenseId = Branded<'LicenseId'>;

/** A new UUIDv7 (RFC 9562 §5.7): ordered by creation time, so keyset pages and log partitions follow the id. */
export function newId(): string {
  return v7();
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True for a UUID in its one canonical spelling (lower case, RFC 9562 §4). */
export function isId(text: string): boolean {
  return uuidPattern.test(text);
}
