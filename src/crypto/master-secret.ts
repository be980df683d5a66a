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

/** The master secret, and those before it whose work is honoured. */
export interface MasterSecrets {
  readonly current: Uint8Array;
  readonly previous: readonly PreviousSecret[];
}

/** A secret that was replaced, and when: a line of `service-secret.previous`. */
export interface ReplacedSecret {
  readonly secret: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly replacedAt: number;
}

/** What a data directory's secret files hold. */
export interface StoredSecrets {
  readonly current: Uint8Array;
  /** The newest first. */
  readonly previous: readonly ReplacedSecret[];
}

const secretBytes = 32;

/** Where a data directory keeps its master secret. */
export const secretPath = (directory: string): string => join(directory, 'service-secret');
/** Where it keeps those before it. */
export const previousSecretsPath = (directory: string): string => join(directory, 'service-secret.previous');

/**
 * The secrets of a data directory; null where there are none.
 * @throws {MasterSecretError} for a file that is not what it should be: nothing is ever made in its place
 */
export function readStoredSecrets(directory: string): StoredSecrets | null {
  const path = secretPath(directory);
  const text = readSecretFile(path);
  const previous = readPrevious(previousSecretsPath(directory));
  if (text !== null) return { current: parseSecret(path, text.trim()), previous };
  if (previous.length === 0) return null;
  throw new MasterSecretError(
    `${path} is missing, and ${previousSecretsPath(directory)} beside it is not. Restore it from a backup: the private ` +
      'keys of your applications are encrypted under it.',
  );
}

/**
 * Makes the secret of a data directory that has none: 32 random bytes in base64, for its owner alone. Of several
 * processes that do so at once one makes it.
 */
export function createMasterSecret(directory: string): void {
  createSecretFile(secretPath(directory), textOf(randomBytes(secretBytes)));
}

/**
 * Puts a new secret in the place of the current one, which is kept with those before it that cookies may still be
 * signed under. It is kept first, and replaced then: at no moment is a secret in neither file. To be called when
 * nothing at rest needs any but the current one.
 * @param now milliseconds since the epoch
 */
export function replaceMasterSecret(directory: string, now: number): void {
  const stored = readStoredSecrets(directory);
  if (stored === null) throw new MasterSecretError(`There is no ${secretPath(directory)} to replace.`);
  const { current, previous } = stored;
  removeDrafts(secretPath(directory));
  removeDrafts(previousSecretsPath(directory));
  const kept = previous.filter(
    ({ secret, replacedAt }) =>
      !Buffer.from(secret).equals(current) && now < replacedAt + cookieLifetimeSeconds * 1000,
  );
  const lines = [{ secret: current, replacedAt: now }, ...kept].map(lineOf);
  replaceSecretFile(previousSecretsPath(directory), lines.join(''));
  replaceSecretFile(secretPath(directory), textOf(randomBytes(secretBytes)));
}

/** Removes the secrets before the current one for good. To be called when nothing at rest needs them. */
export function forgetPreviousSecrets(directory: string): void {
  removeSecretFile(previousSecretsPath(directory));
}

/** The secrets of the environment, as they are given. */
export function givenSecrets(secret: string, previous: string | null): MasterSecrets {
  return withoutRepetition([...formsOfText(secret), ...(previous === null ? [] : formsOfText(previous))]);
}

/** The secrets of a data directory, and one that the environment names as previous. */
export function storedSecrets({ current, previous }: StoredSecrets, given: string | null): MasterSecrets {
  return withoutRepetition([
    ...formsOfFile(current, null),
    ...previous.flatMap(({ secret, replacedAt }) => formsOfFile(secret, replacedAt)),
    ...(given === null ? [] : formsOfText(given)),
  ]);
}

/*
 * The environment's secret is the text itself, a file's the bytes that its text stands for. A secret that was made into
 * a file and is then given as SERVICE_SECRET, as by whoever moves to a PostgreSQL server, is so another one; what was
 * made under its other form is honoured like that of a previous secret.
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

function withoutRepetition(all: readonly PreviousSecret[]): MasterSecrets {
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
    `${path} does not hold a master secret (${secretBytes} bytes in base64). Restore it from a backup: ` +
      'without it the private keys of your applications cannot be opened. It has not been replaced.',
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
        `${path} does not hold the secrets before the current one (on each line 32 bytes in base64, and when it was ` +
          'replaced). Restore it from a backup.',
      );
    }
    return { secret: parseSecret(path, secret), replacedAt };
  });
}
