import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { utf8 } from '../../protocol/bytes.ts';
import { maxLeaseLength } from '../../protocol/v2/lease.ts';
import { parseJson } from '../http.ts';

const count = z.number().min(0);

const leaseEntry = z.object({
  /** See `entryId`. */
  id: z.string(),
  /** Null after the service has refused the license. */
  lease: z.string().max(maxLeaseLength).nullable(),
  /** Seconds that the program has run with this lease, in all its runs. */
  used: count,
  /** The highest values of all leases for this license and device. */
  seq: count,
  rev: count,
  /** The `expiresAt` of the answer that brought the lease, which its claims do not have: their end includes the grace. */
  expiresAt: z.string().nullable().optional(),
  /** The service has meanwhile said something else about the license than the lease does. */
  isOutdated: z.boolean(),
});
export type LeaseEntry = Readonly<z.infer<typeof leaseEntry>>;

/**
 * What a client knows about its leases. It is one text in the store, so that a lease and its bounds are written together. It
 * is not protected: someone who edits it, or restores an earlier one, removes all bounds but the signed ones.
 */
const leaseRecord = z.object({
  /** The latest time that this device is known to have reached, in Unix seconds. */
  last: count,
  /** The highest `rev` of all revocation lists. */
  revocationsRev: count,
  /** Nonces of the device requests that no lease has answered, oldest first. */
  nonces: z.array(z.string()),
  /** Oldest first. */
  entries: z.array(leaseEntry),
});
export type LeaseRecord = Readonly<z.infer<typeof leaseRecord>>;

export const emptyRecord: LeaseRecord = { last: 0, revocationsRev: 0, nonces: [], entries: [] };

/** So that the text stays far below the 1 MiB that a store takes. */
const maxEntries = 8;
const maxNonces = 4;

/** Reads a stored text. A text that is not ours counts as none: without it there is no lease either. */
export function parseRecord(text: string | null): LeaseRecord {
  const parsed = leaseRecord.safeParse(parseJson(text ?? ''));
  return parsed.success ? parsed.data : emptyRecord;
}

/** The text to store, with the newest entries and nonces. */
export function recordText({ nonces, entries, ...rest }: LeaseRecord): string {
  return JSON.stringify({ ...rest, nonces: nonces.slice(-maxNonces), entries: entries.slice(-maxEntries) });
}

/** Names a license on a device. A hash, because the store must not reveal license keys. */
export function entryId(licenseKey: string, device: string): string {
  return bytesToHex(sha256(utf8(`latchkey-license\0${device}\0${licenseKey}`)).subarray(0, 16));
}

export function findEntry({ entries }: LeaseRecord, id: string): LeaseEntry | null {
  return entries.find((entry) => entry.id === id) ?? null;
}

/** The record with this entry in the place of an earlier one. */
export function withEntry(record: LeaseRecord, entry: LeaseEntry): LeaseRecord {
  return { ...record, entries: [...record.entries.filter(({ id }) => id !== entry.id), entry] };
}
