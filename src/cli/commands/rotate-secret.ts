import type { Command } from 'commander';
import type { Pool } from 'pg';
import { type DataConfig, loadDataConfig } from '../../config.ts';
import type { Keyring } from '../../crypto/keyring.ts';
import {
  forgetPreviousSecrets,
  previousSecretsPath,
  readStoredSecrets,
  replaceMasterSecret,
  secretPath,
} from '../../crypto/master-secret.ts';
import { hasSecretFingerprint } from '../../db/installation.ts';
import { compareHistory, readAppliedMigrations, refuseUnknown } from '../../db/migration-history.ts';
import { readMigrations } from '../../db/migrations.ts';
import { findKeyring } from '../../services/application/open-keyring.ts';
import { requireOwnSecret } from '../../services/application/own-secret.ts';
import { countApplicationKeys, rotateApplicationKeys } from '../../services/application/rotate-keys.ts';
import type { Rotation, SealedCounts } from '../../services/rotate-sealed.ts';
import { countTotpSecrets, resealTotpSecrets } from '../../services/second-factor/reseal.ts';
import { resealServiceKeys } from '../../services/service-key/reseal.ts';
import { countWebhookSecrets, resealWebhookSecrets } from '../../services/webhook/rotate-keys.ts';
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
      're-encrypt all private keys under a new master secret; with an embedded database, generate that secret too',
    )
    .option(
      '--forget-previous',
      'instead of rotating, permanently remove the previous secrets from the data directory',
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
        const history = await readAppliedMigrations(pool);
        if (history.length === 0) {
          throw new CommandError(`${describeAddress(database)} is empty: nothing is encrypted yet.`);
        }
        // A later version may have secrets that this one would not re-encrypt.
        refuseUnknown(compareHistory(migrations, history), 'rotate the secret');
        const directory =
          database.kind === 'embedded' && config.serviceSecret === null ? database.directory : null;
        if (forgetPrevious) await forget(config, directory, pool, terminal);
        else if (directory === null) await rotateConfigured(config, pool, terminal);
        else await rotateStored(config, directory, pool, terminal);
      } finally {
        await close();
      }
    });
}

/** Rotates to the operator's own secret, with SERVICE_SECRET and SERVICE_SECRET_PREVIOUS. */
async function rotateConfigured(config: DataConfig, pool: Pool, terminal: Terminal): Promise<void> {
  const keyring = keyringOf(config);
  const rotation = await rotate(keyring, pool, terminal);
  await requireDone(rotation.left, keyring, pool);
  const isProved = rotation.left.current > 0 || config.previousSecret === null;
  await recordSecret(pool, keyring, isProved);
  report(rotation, terminal);
  if (rotation.rotated > 0) {
    say(
      terminal.stdout,
      'Keep SERVICE_SECRET_PREVIOUS set for 7 more days, until all session cookies are signed under SERVICE_SECRET; ' +
        'if the old secret may have leaked, remove it now, and all developers have to log in again.',
    );
  } else if (config.previousSecret === null) {
    say(
      terminal.stdout,
      'To rotate it, set SERVICE_SECRET to a new secret (openssl rand -base64 32) and SERVICE_SECRET_PREVIOUS to the ' +
        'current one, restart the service, and run this command again.',
    );
  }
}

/** Rotates to a generated secret in a data directory. The caller holds the directory's lock, so no service is running. */
async function rotateStored(
  config: DataConfig,
  directory: string,
  pool: Pool,
  terminal: Terminal,
): Promise<void> {
  // Finish an interrupted rotation first: a new one would discard the secret that its remaining rows need.
  const current = keyringOf(config);
  const unfinished = await rotate(current, pool, terminal);
  await requireDone(unfinished.left, current, pool);
  await recordSecret(pool, current, unfinished.left.current > 0 || config.previousSecret === null);
  if (unfinished.rotated > 0) {
    report(unfinished, terminal);
    say(
      terminal.stdout,
      'This finished an interrupted rotation and generated no new secret. To rotate again, run this command again.',
    );
    return;
  }
  terminal.signal.throwIfAborted();
  replaceMasterSecret(directory, Date.now());
  const keyring = keyringOf(config);
  const rotation = await rotate(keyring, pool, terminal);
  await requireDone(rotation.left, keyring, pool);
  await recordSecret(pool, keyring, true);
  report(rotation, terminal);
  say(
    terminal.stdout,
    `The new secret is in ${secretPath(directory)}, the previous one in ${previousSecretsPath(directory)}. Keep both ` +
      'with your backups: earlier backups need the old one. Session cookies signed under the old secret stay valid for ' +
      '7 days; if it may have leaked, run "latchkey rotate-secret --forget-previous" now.',
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
      'The secrets are in the environment: run "latchkey rotate-secret", then remove SERVICE_SECRET_PREVIOUS.',
    );
  }
  const { previous } = readStoredSecrets(directory) ?? { previous: [] };
  if (previous.length === 0) {
    say(terminal.stdout, `Nothing to do: ${previousSecretsPath(directory)} does not exist.`);
    return;
  }
  const keyring = keyringOf(config);
  const counts = await countApplicationKeys(pool, keyring, { signal: terminal.signal });
  requireReadable(counts);
  const totp = await countTotpSecrets(pool, keyring);
  if (counts.previous + totp.previous > 0) {
    throw new CommandError(
      `${counts.previous} private keys and ${totp.previous} TOTP secrets are still encrypted under a previous secret: first run "latchkey ` +
        'rotate-secret" to finish the rotation.',
    );
  }
  const webhooks = await countWebhookSecrets(pool, keyring, { signal: terminal.signal });
  if (webhooks.previous > 0) {
    throw new CommandError(
      `The signing secrets of ${webhooks.previous} webhooks are still encrypted under a previous secret: first run ` +
        '"latchkey rotate-secret" to finish the rotation.',
    );
  }
  await recordSecret(pool, keyring, counts.current > 0 || config.previousSecret === null);
  forgetPreviousSecrets(directory);
  say(
    terminal.stdout,
    `Removed ${previousSecretsPath(directory)}. Developers who logged in before the rotation must log in again.`,
  );
}

/** Runs before a secret is forgotten, so that a start with only the current one accepts it. */
async function recordSecret(pool: Pool, keyring: Keyring, isProved: boolean): Promise<void> {
  if (await hasSecretFingerprint(pool)) await requireOwnSecret(pool, keyring, isProved);
}

function keyringOf(config: DataConfig): Keyring {
  const keyring = findKeyring(config);
  if (keyring === null) {
    throw new CommandError(
      'There is no master secret for this database: restore service-secret from a backup, or set SERVICE_SECRET.',
    );
  }
  return keyring;
}

async function rotate(keyring: Keyring, pool: Pool, terminal: Terminal): Promise<Rotation> {
  const { rows } = await pool.query<{ count: string }>('SELECT count(*) AS count FROM applications');
  const total = Number(rows[0]?.count);
  const progress = startProgress(terminal, { title: 'Encrypting', total, unit: 'private keys' });
  let shown = 0;
  try {
    await resealServiceKeys(pool, keyring);
    await resealTotpSecrets(pool, keyring);
    const webhooks = await resealWebhookSecrets(pool, keyring, { signal: terminal.signal });
    requireWebhooksDone(webhooks.left, terminal);
    return await rotateApplicationKeys(pool, keyring, {
      signal: terminal.signal,
      // A second pass counts the same keys again.
      onProgress: (seen) => {
        if (seen > shown) progress.advance(seen - shown);
        shown = Math.max(shown, seen);
      },
    });
  } finally {
    progress.end();
  }
}

function report({ rotated, left }: Rotation, { stdout }: Terminal): void {
  say(
    stdout,
    `Re-encrypted ${rotated} private keys; all ${left.current} are under the current master secret.`,
  );
}

async function requireDone(left: SealedCounts, keyring: Keyring, pool: Pool): Promise<void> {
  requireReadable(left);
  const totp = await countTotpSecrets(pool, keyring);
  if (left.previous + totp.previous > 0) {
    throw new CommandError(
      `${left.previous} private keys and ${totp.previous} TOTP secrets were encrypted under an older secret while this command ran: an instance still ` +
        'uses it. Set the new SERVICE_SECRET on every instance, and run this command again.',
    );
  }
}

/** A secret that cannot be decrypted does not stop a rotation: its developer can replace it. */
function requireWebhooksDone({ previous, unreadable }: SealedCounts, { stderr }: Terminal): void {
  if (unreadable.length > 0) {
    say(
      stderr,
      `No configured secret decrypts the signing secrets of ${unreadable.length} webhooks, such as ${unreadable[0]}. They ` +
        'were not changed. Nothing is sent to these webhooks until their developers rotate their secrets.',
    );
  }
  if (previous > 0) {
    throw new CommandError(
      `The signing secrets of ${previous} webhooks were encrypted under an older secret while this command ran: an ` +
        'instance still uses it. Set the new SERVICE_SECRET on every instance, and run this command again.',
    );
  }
}

function requireReadable({ unreadable }: SealedCounts): void {
  if (unreadable.length === 0) return;
  const shown = unreadable.slice(0, 5).join(', ');
  const more = unreadable.length > 5 ? `, and ${unreadable.length - 5} more` : '';
  throw new CommandError(
    `No configured secret decrypts the private keys of ${unreadable.length} applications (${shown}${more}). They were ` +
      'not changed. Set SERVICE_SECRET_PREVIOUS to the secret that they were encrypted under, and run this command again.',
  );
}
