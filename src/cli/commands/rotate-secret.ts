import type { Command } from 'commander';
import type { Pool } from 'pg';
import { type DataConfig, loadDataConfig } from '../../config.ts';
import { createKeyring, type Keyring } from '../../crypto/keyring.ts';
import {
  forgetPreviousSecrets,
  previousSecretsPath,
  readStoredSecrets,
  replaceMasterSecret,
  secretPath,
} from '../../crypto/master-secret.ts';
import { hasSecretFingerprint } from '../../db/installation.ts';
import { readAppliedMigrations } from '../../db/migration-history.ts';
import { readMigrations } from '../../db/migrations.ts';
import { findMasterSecrets } from '../../services/application/open-keyring.ts';
import { requireOwnSecret } from '../../services/application/own-secret.ts';
import {
  countApplicationKeys,
  type KeyCounts,
  type Rotation,
  rotateApplicationKeys,
} from '../../services/application/rotate-keys.ts';
import { adviseOnLock } from '../advise-on-lock.ts';
import { connect, describeAddress, hasEmbeddedDatabase } from '../database.ts';
import { CommandError } from '../failure.ts';
import { startProgress } from '../progress.ts';
import { say, type Terminal } from '../terminal.ts';

interface Options {
  readonly forgetPrevious?: boolean;
}

export function addRotateSecretCommand(program: Command, terminal: Terminal): void {
  program
    .command('rotate-secret')
    .description(
      'encrypt what the master secret protects under a new one; for an embedded database, make that too',
    )
    .option(
      '--forget-previous',
      'make nothing: remove the secrets before the one in the data directory, for good',
    )
    .action(async ({ forgetPrevious = false }: Options) => {
      const config = loadDataConfig(terminal.env);
      const { database } = config;
      if (database.kind === 'embedded' && !hasEmbeddedDatabase(database.directory)) {
        throw new CommandError(`There is no database in ${database.directory}: nothing is encrypted yet.`);
      }
      const migrations = await readMigrations();
      const { pool, close } = await adviseOnLock('rotate the secret', () =>
        connect(database, migrations, terminal),
      );
      try {
        if ((await readAppliedMigrations(pool)).length === 0) {
          throw new CommandError(`${describeAddress(database)} is empty: nothing is encrypted yet.`);
        }
        const directory =
          database.kind === 'embedded' && config.serviceSecret === null ? database.directory : null;
        if (forgetPrevious) await forget(config, directory, pool, terminal);
        else if (directory === null) await rotateGiven(config, pool, terminal);
        else await rotateStored(config, directory, pool, terminal);
      } finally {
        await close();
      }
    });
}

/** The secrets are the operator's, in SERVICE_SECRET and SERVICE_SECRET_PREVIOUS. */
async function rotateGiven(config: DataConfig, pool: Pool, terminal: Terminal): Promise<void> {
  const keyring = keyringOf(config);
  const rotation = await rotate(keyring, pool, terminal);
  requireDone(rotation.left);
  const isProved = rotation.left.current > 0 || config.previousSecret === null;
  await noteSecret(pool, keyring, isProved);
  tell(rotation, terminal);
  if (rotation.rotated > 0) {
    say(
      terminal.stdout,
      'Keep SERVICE_SECRET_PREVIOUS set for 7 more days, until all session cookies are signed under SERVICE_SECRET; ' +
        'or, where the old secret may be known to others, remove it now, and everybody logs in again.',
    );
  } else if (config.previousSecret === null) {
    say(
      terminal.stdout,
      'To rotate it, set SERVICE_SECRET to a new secret (openssl rand -base64 32) and SERVICE_SECRET_PREVIOUS to the ' +
        'present one, restart the service, and run this again.',
    );
  }
}

/** The secrets are files of a data directory, whose lock is held: no service is at work on it. */
async function rotateStored(
  config: DataConfig,
  directory: string,
  pool: Pool,
  terminal: Terminal,
): Promise<void> {
  // A rotation that was cut short is finished first: the next one would forget what its rows need.
  const present = keyringOf(config);
  const unfinished = await rotate(present, pool, terminal);
  requireDone(unfinished.left);
  await noteSecret(pool, present, unfinished.left.current > 0 || config.previousSecret === null);
  if (unfinished.rotated > 0) {
    tell(unfinished, terminal);
    say(
      terminal.stdout,
      'A rotation had been cut short, and has been finished; no other secret was made. To make one, run this again.',
    );
    return;
  }
  terminal.signal.throwIfAborted();
  replaceMasterSecret(directory, Date.now());
  const keyring = keyringOf(config);
  const rotation = await rotate(keyring, pool, terminal);
  requireDone(rotation.left);
  await noteSecret(pool, keyring, true);
  tell(rotation, terminal);
  say(
    terminal.stdout,
    `The new secret is in ${secretPath(directory)}, the one before it in ${previousSecretsPath(directory)}. Keep both ` +
      'with your backups: one from before today needs the old one. For 7 days session cookies of the old one are ' +
      'honoured; where it may be known to others, run "latchkey rotate-secret --forget-previous" now.',
  );
}

async function forget(
  config: DataConfig,
  directory: string | null,
  pool: Pool,
  terminal: Terminal,
): Promise<void> {
  if (directory === null) {
    throw new CommandError(
      'The secrets are in the environment: run "latchkey rotate-secret", and then remove SERVICE_SECRET_PREVIOUS.',
    );
  }
  const { previous } = readStoredSecrets(directory) ?? { previous: [] };
  if (previous.length === 0) {
    say(terminal.stdout, `Nothing to do: ${previousSecretsPath(directory)} is not there.`);
    return;
  }
  const keyring = keyringOf(config);
  const counts = await countApplicationKeys(pool, keyring, { signal: terminal.signal });
  requireReadable(counts);
  if (counts.previous > 0) {
    throw new CommandError(
      `${counts.previous} private keys are still encrypted under a secret before the present one: finish that first, ` +
        'with "latchkey rotate-secret".',
    );
  }
  await noteSecret(pool, keyring, counts.current > 0 || config.previousSecret === null);
  forgetPreviousSecrets(directory);
  say(
    terminal.stdout,
    `Removed ${previousSecretsPath(directory)}. Whoever logged in before the rotation logs in again.`,
  );
}

/** Runs before a secret is forgotten, so that a start with only the current one accepts it. */
async function noteSecret(pool: Pool, keyring: Keyring, isProved: boolean): Promise<void> {
  if (await hasSecretFingerprint(pool)) await requireOwnSecret(pool, keyring, isProved);
}

function keyringOf(config: DataConfig): Keyring {
  const secrets = findMasterSecrets(config);
  if (secrets === null) {
    throw new CommandError(
      'There is no master secret beside the database: restore service-secret from a backup, or set SERVICE_SECRET.',
    );
  }
  return createKeyring(secrets.current, secrets.previous);
}

async function rotate(keyring: Keyring, pool: Pool, terminal: Terminal): Promise<Rotation> {
  const { rows } = await pool.query<{ count: string }>('SELECT count(*) AS count FROM applications');
  const total = Number(rows[0]?.count);
  const progress = startProgress(terminal, { title: 'Encrypting', total, unit: 'private keys' });
  let shown = 0;
  try {
    return await rotateApplicationKeys(pool, keyring, {
      signal: terminal.signal,
      // A second pass looks at the same ones again.
      onProgress: (seen) => {
        if (seen > shown) progress.advance(seen - shown);
        shown = Math.max(shown, seen);
      },
    });
  } finally {
    progress.end();
  }
}

function tell({ rotated, left }: Rotation, { stdout }: Terminal): void {
  say(
    stdout,
    `Encrypted ${rotated} private keys anew; all ${left.current} are under the present master secret.`,
  );
}

function requireDone(left: KeyCounts): void {
  requireReadable(left);
  if (left.previous > 0) {
    throw new CommandError(
      `${left.previous} private keys were encrypted under an older secret again while this ran: an instance still ` +
        'makes applications under it. Give every instance the new SERVICE_SECRET, and run this again.',
    );
  }
}

function requireReadable({ unreadable }: KeyCounts): void {
  if (unreadable.length === 0) return;
  const shown = unreadable.slice(0, 5).join(', ');
  const more = unreadable.length > 5 ? `, and ${unreadable.length - 5} more` : '';
  throw new CommandError(
    `The private keys of ${unreadable.length} applications open under no secret at hand (${shown}${more}): they are as ` +
      'they were. Set SERVICE_SECRET_PREVIOUS to the secret that they were encrypted under, and run this again.',
  );
}
