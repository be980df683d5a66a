import { z } from 'zod';
import type { Keyring } from '../../crypto/keyring.ts';
import { openPrivateKey, PrivateKeyUnreadableError } from '../../crypto/sealed-private-key.ts';
import type { OpenBackup } from '../backup/read.ts';
import { CommandError } from '../failure.ts';

const logEntry = z.object({ id: z.uuid() });
const application = z.object({ id: z.uuid(), private_key_encrypted: z.string().regex(/^\\x[0-9a-f]+$/) });

/** The result of reading a whole backup. */
export interface Inspection {
  /** A time in each week that has log entries, in milliseconds since the Unix epoch, in ascending order. */
  readonly logWeeks: readonly number[];
  /** Ids of the applications whose private keys the master secret cannot decrypt. */
  readonly unreadable: readonly string[];
}

export interface InspectionOptions {
  /** Null if no master secret is configured: private keys are not checked. */
  readonly keyring: Keyring | null;
  /** Whether some private keys may be unreadable, as long as the master secret decrypts at least one. */
  readonly allowUnreadableKeys: boolean;
  onRows(count: number): void;
}

/**
 * Reads a whole backup to verify it before anything is restored.
 * @throws {CommandError} when the backup is damaged, or the master secret does not belong to it
 */
export async function inspectBackup(
  { batches }: OpenBackup,
  { keyring, allowUnreadableKeys, onRows }: InspectionOptions,
): Promise<Inspection> {
  const weeks = new Map<number, number>();
  const unreadable: string[] = [];
  let opened = 0;
  for await (const { table, rows } of batches) {
    if (table.name === 'security_log') for (const row of rows) addWeek(weeks, row);
    if (table.name === 'applications' && keyring !== null) {
      for (const row of rows) {
        if (opensKey(keyring, row)) opened += 1;
        else unreadable.push(application.safeParse(parse(row)).data?.id ?? 'without an id');
      }
    }
    onRows(rows.length);
  }
  // The checksum is verified by now, so an unreadable key is not caused by a damaged file.
  if (unreadable.length > 0 && (opened === 0 || !allowUnreadableKeys)) throw wrongSecret(unreadable, opened);
  return { logWeeks: [...weeks.values()].toSorted((one, other) => one - other), unreadable };
}

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000;
/** More than the maximum log retention. An older id was not created at the time that it states. */
const maxAgeWeeks = 600;

/** The first 48 bits of an id are milliseconds (RFC 9562 §5.7). */
function addWeek(weeks: Map<number, number>, row: string): void {
  const entry = logEntry.safeParse(parse(row));
  if (!entry.success) return;
  const { id } = entry.data;
  const milliseconds = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  const age = (Date.now() - milliseconds) / weekMilliseconds;
  if (age < maxAgeWeeks && age > -1) weeks.set(Math.floor(milliseconds / weekMilliseconds), milliseconds);
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
  const secret = 'The master secret (SERVICE_SECRET, or the file service-secret in DATA_DIR)';
  return new CommandError(
    opened === 0
      ? `${secret} is not the one of this backup: it cannot decrypt the private key of application ${unreadable[0]}. ` +
          'Use the secret that was kept with the backup. Nothing has been restored.'
      : `${secret} cannot decrypt the private keys of ${unreadable.length} of ${unreadable.length + opened} ` +
          `applications in this backup: ${listSome(unreadable)}. Set SERVICE_SECRET_PREVIOUS to the secret that they ` +
          'are encrypted under. If it is lost, restore with --allow-unreadable-keys: customers of these applications ' +
          'are then refused, all others are served. Nothing has been restored.',
  );
}

/** Lists the first 20 ids and the number of the others. */
export function listSome(ids: readonly string[]): string {
  const more = ids.length > 20 ? `, and ${ids.length - 20} more` : '';
  return ids.slice(0, 20).join(', ') + more;
}

/** Parses a row; undefined if it is not JSON. The file may be damaged. */
function parse(row: string): unknown {
  try {
    return JSON.parse(row);
  } catch {
    return undefined;
  }
}
