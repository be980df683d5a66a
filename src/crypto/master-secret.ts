import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { cookieLifetimeSeconds } from './cookie-token.ts';
import type { PreviousSecret } from './keyring.ts';
import {
  createSecretFile,
  foreignOwnerOf,
  MasterSecretError,
  readSecretFile,
  removeDrafts,
  removeSecretFile,
  replaceSecretFile,
} from './secret-file.ts';

export { foreignOwnerOf, MasterSecretError };

/** The current master secret, and previous ones that are still accepted. */
export interface MasterSecrets {
  readonly current: Uint8Array;
  readonly previous: readonly PreviousSecret[];
}

/** A replaced secret: one line of `service-secret.previous`. */
export interface ReplacedSecret {
  readonly secret: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly replacedAt: number;
}

/** The contents of a data directory's secret files. */
export interface StoredSecrets {
  readonly current: Uint8Array;
  /** Newest first. */
  readonly previous: readonly ReplacedSecret[];
}

const secretBytes = 32;

/** Path of a data directory's master secret. */
export const secretPath = (directory: string): string => join(directory, 'service-secret');
/** Path of a data directory's previous master secrets. */
export const previousSecretsPath = (directory: string): string => join(directory, 'service-secret.previous');

/**
 * Reads the secrets of a data directory; null if there are none.
 * @throws {MasterSecretError} if a file is invalid, unreadable or accessible to others; it is never replaced
 */
export function readStoredSecrets(directory: string): StoredSecrets | null {
  const path = secretPath(directory);
  const text = readSecretFile(path);
  const previous = readPrevious(previousSecretsPath(directory));
  if (text !== null) return { current: parseSecret(path, text.trim()), previous };
  if (previous.length === 0) return null;
  throw new MasterSecretError(
    `${path} is missing, although ${previousSecretsPath(directory)} exists. Restore it from a backup: your ` +
      "applications' private keys are encrypted with it.",
  );
}

/**
 * Creates the secret of a data directory that has none: 32 random bytes in base64, readable only by their owner. If
 * several processes do this at once, one of them succeeds and the others have no effect.
 */
export function createMasterSecret(directory: string): void {
  createSecretFile(secretPath(directory), textOf(randomBytes(secretBytes)));
}

/**
 * Replaces the current secret with a new one. The old one is stored with the previous secrets, of which those are kept
 * that cookies may still be signed with. It is stored there first, so that a crash loses no secret. Call this only when
 * all stored data is encrypted with the current secret.
 * @param now milliseconds since the epoch
 */
export function replaceMasterSecret(directory: string, now: number): void {
  const stored = readStoredSecrets(directory);
  if (stored === null) throw new MasterSecretError(`There is no ${secretPath(directory)} to replace.`);
  const { current, previous } = stored;
  removeDrafts(secretPath(directory));
  removeDrafts(previousSecretsPath(directory));
  const stillAccepted = previous.filter(
    ({ secret, replacedAt }) =>
      !Buffer.from(secret).equals(current) && now < replacedAt + cookieLifetimeSeconds * 1000,
  );
  const lines = [{ secret: current, replacedAt: now }, ...stillAccepted].map(lineOf);
  replaceSecretFile(previousSecretsPath(directory), lines.join(''));
  replaceSecretFile(secretPath(directory), textOf(randomBytes(secretBytes)));
}

/** Permanently removes the previous secrets. Call this only when no stored data needs them. */
export function forgetPreviousSecrets(directory: string): void {
  removeSecretFile(previousSecretsPath(directory));
}

/** The secrets of SERVICE_SECRET and SERVICE_SECRET_PREVIOUS. */
export function environmentSecrets(secret: string, previous: string | null): MasterSecrets {
  return withoutDuplicates([...formsOfText(secret), ...(previous === null ? [] : formsOfText(previous))]);
}

/** The secrets of a data directory, plus the one of SERVICE_SECRET_PREVIOUS. */
export function storedSecrets(
  { current, previous }: StoredSecrets,
  environmentPrevious: string | null,
): MasterSecrets {
  return withoutDuplicates([
    ...formsOfFile(current, null),
    ...previous.flatMap(({ secret, replacedAt }) => formsOfFile(secret, replacedAt)),
    ...(environmentPrevious === null ? [] : formsOfText(environmentPrevious)),
  ]);
}

/*
 * A secret from the environment is the UTF-8 bytes of its text; a secret from a file is the bytes that its base64 text
 * decodes to. Passing a file's text as SERVICE_SECRET, for example when moving to a PostgreSQL server, thus makes a
 * different secret. So each secret's other form is accepted like a previous secret.
 */

function formsOfText(text: string): PreviousSecret[] {
  const decoded = Buffer.from(text, 'base64');
  const isEncoded = decoded.length === secretBytes && decoded.toString('base64') === text;
  return [Buffer.from(text, 'utf8'), ...(isEncoded ? [decoded] : [])].map((secret) => ({
    secret,
    replacedAt: null,
  }));
}

const formsOfFile = (secret: Uint8Array, replacedAt: number | null): PreviousSecret[] => [
  { secret, replacedAt },
  { secret: Buffer.from(Buffer.from(secret).toString('base64'), 'utf8'), replacedAt },
];

function withoutDuplicates(all: readonly PreviousSecret[]): MasterSecrets {
  const [first, ...rest] = all.filter(
    ({ secret }, index) => all.findIndex((other) => Buffer.from(other.secret).equals(secret)) === index,
  );
  if (first === undefined) throw new RangeError('There is no master secret');
  return { current: first.secret, previous: rest };
}

const textOf = (secret: Uint8Array): string => `${Buffer.from(secret).toString('base64')}\n`;

const lineOf = ({ secret, replacedAt }: ReplacedSecret): string =>
  `${Buffer.from(secret).toString('base64')} ${new Date(replacedAt).toISOString()}\n`;

function parseSecret(path: string, text: string): Uint8Array {
  const secret = Buffer.from(text, 'base64');
  if (secret.length === secretBytes && secret.toString('base64') === text) return new Uint8Array(secret);
  throw new MasterSecretError(
    `${path} does not contain a master secret (${secretBytes} bytes in base64). Restore it from a backup: ` +
      "without it, your applications' private keys cannot be decrypted. It has not been replaced.",
  );
}

function readPrevious(path: string): ReplacedSecret[] {
  const text = readSecretFile(path);
  if (text === null) return [];
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [secret = '', time = ''] = line.trim().split(' ');
    const replacedAt = Date.parse(time);
    if (Number.isNaN(replacedAt)) {
      throw new MasterSecretError(
        `${path} does not contain previous master secrets (each line: 32 bytes in base64, then the time of replacement). ` +
          'Restore it from a backup.',
      );
    }
    return { secret: parseSecret(path, secret), replacedAt };
  });
}
