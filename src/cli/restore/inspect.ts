import { z } from 'zod';
import type { Keyring } from '../../crypto/keyring.ts';
import { openPrivateKey, PrivateKeyUnreadableError } from '../../crypto/sealed-private-key.ts';
import type { OpenBackup } from '../backup/read.ts';
import { CommandError } from '../failure.ts';

const logEntry = z.object({ id: z.uuid() });
const application = z.object({ id: z.uuid(), private_key_encrypted: z.string().regex(/^\\x[0-9a-f]+$/) });

/** What a backup turned out to hold. */
export interface Inspection {
  /** A millisecond of each week that the log has entries of, since the Unix epoch, the earliest first. */
  readonly logWeeks: readonly number[];
  /** The applications whose private keys the master secret does not open. */
  readonly unreadable: readonly string[];
}

export interface InspectionOptions {
  /** Null: the master secret is not known here, so that nothing is tried with it. */
  readonly keyring: Keyring | null;
  /** Whether applications may have keys that the master secret does not open, where it opens another's. */
  readonly allowUnreadableKeys: boolean;
  onRows(count: number): void;
}

/**
 * Reads all of a backup, which proves that it is whole, before anything is restored from it.
 * @throws {CommandError} when it is not whole, or the master secret is not its own
 */
export async function inspectBackup(
  { batches }: OpenBackup,
  { keyring, allowUnreadableKeys, onRows }: InspectionOptions,
): Promise<Inspection> {
  const weeks = new Map<number, number>();
  const unreadable: string[] = [];
  let opened = 0;
  for await (const { table, rows } of batches) {
    if (table.name === 'security_log') for (const row of rows) noteWeek(weeks, row);
    if (table.name === 'applications' && keyring !== null) {
      for (const row of rows) {
        if (opensKey(keyring, row)) opened += 1;
        else unreadable.push(application.safeParse(parse(row)).data?.id ?? 'without an id');
      }
    }
    onRows(rows.length);
  }
  // Only now the rows have proved to be what was written: until here the file itself could have been at fault.
  if (unreadable.length > 0 && (opened === 0 || !allowUnreadableKeys)) throw wrongSecret(unreadable, opened);
  return { logWeeks: [...weeks.values()].toSorted((one, other) => one - other), unreadable };
}

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000;
/** The longest retention that there is, and some: an id of another time says nothing of when it was made. */
const oldestWeeks = 600;

/** The first 48 bits of an id are milliseconds (RFC 9562 §5.7). */
function noteWeek(weeks: Map<number, number>, row: string): void {
  const entry = logEntry.safeParse(parse(row));
  if (!entry.success) return;
  const { id } = entry.data;
  const milliseconds = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  const age = (Date.now() - milliseconds) / weekMilliseconds;
  if (age < oldestWeeks && age > -1) weeks.set(Math.floor(milliseconds / weekMilliseconds), milliseconds);
}

function opensKey(keyring: Keyring, row: string): boolean {
  const parsed = application.safeParse(parse(row));
  if (!parsed.success) return false;
  const { id, private_key_encrypted: hex } = parsed.data;
  try {
    openPrivateKey(keyring, id, Buffer.from(hex.slice(2), 'hex'));
    return true;
  } catch (error) {
    if (error instanceof PrivateKeyUnreadableError) return false;
    throw error;
  }
}

function wrongSecret(unreadable: readonly string[], opened: number): CommandError {
  const here = 'The master secret here (SERVICE_SECRET, or the file service-secret in DATA_DIR)';
  const end = 'Use the secret that was kept with the backup. Nothing has been restored.';
  return new CommandError(
    opened === 0
      ? `${here} is not the one of this backup: it does not open the private key of application ${unreadable[0]}. ${end}`
      : `${here} does not open the private keys of ${unreadable.length} of ${unreadable.length + opened} applications ` +
          `in this backup: ${nameSome(unreadable)}. Give the secret that they are encrypted under as ` +
          'SERVICE_SECRET_PREVIOUS; or, where it is lost, restore with --allow-unreadable-keys: the customers of ' +
          'these applications are then refused, and all others served. Nothing has been restored.',
  );
}

/** A few of many, for people. */
export function nameSome(ids: readonly string[]): string {
  const more = ids.length > 20 ? `, and ${ids.length - 20} more` : '';
  return ids.slice(0, 20).join(', ') + more;
}

/** Of a file that is not known to be whole yet. */
function parse(row: string): unknown {
  try {
    return JSON.parse(row);
  } catch {
    return undefined;
  }
}
