import type { Pool } from 'pg';
import type { DataConfig } from '../../config.ts';
import { cookieLifetimeSeconds } from '../../crypto/cookie-token.ts';
import { foreignOwnerOf, readStoredSecrets, secretPath } from '../../crypto/master-secret.ts';
import { hasSecretFingerprint } from '../../db/installation.ts';
import { findKeyring } from '../../services/application/open-keyring.ts';
import { anotherSecret, isForeignSecret } from '../../services/application/own-secret.ts';
import { countApplicationKeys } from '../../services/application/rotate-keys.ts';
import { countTotpSecrets } from '../../services/second-factor/reseal.ts';
import { countWebhookSecrets } from '../../services/webhook/rotate-keys.ts';
import { type Finding, findingsOf } from './finding.ts';
import { weaknessOf } from './weakness.ts';

const { ok, warn, fail } = findingsOf('secret');

/** Checks the master secret without the database. */
export function checkConfiguredSecret(config: DataConfig, hasDatabase: boolean): readonly Finding[] {
  const { database, serviceSecret, previousSecret } = config;
  if (serviceSecret !== null) {
    const weakness = weaknessOf(serviceSecret);
    const findings = [
      weakness === null
        ? ok('SERVICE_SECRET has no obvious weakness')
        : warn(
            `SERVICE_SECRET may be guessable: ${weakness}. Generate another (openssl rand -base64 32), and rotate it.`,
          ),
    ];
    if (previousSecret === serviceSecret) {
      findings.push(warn('SERVICE_SECRET_PREVIOUS is the same as SERVICE_SECRET: remove it.'));
    }
    return findings;
  }
  if (database.kind === 'memory') return [ok('The master secret is generated at each start and not stored')];
  if (database.kind === 'server') {
    return [
      fail(
        "SERVICE_SECRET is not set, but DATABASE_URL is: set it to the value in the service's environment.",
      ),
    ];
  }
  const stored = readStoredSecrets(database.directory);
  const path = secretPath(database.directory);
  // With a database, `checkKeys` reports on the previous secret.
  if (stored !== null) return [checkOwner(path), ...(hasDatabase ? [] : checkReplaced(config, null))];
  return [
    hasDatabase
      ? warn(`${path} does not exist: if the database has been used, restore the file from a backup.`)
      : ok('The first start generates the master secret'),
  ];
}

/** Root can read any file, but a service that runs as another user may not be able to. */
function checkOwner(path: string): Finding {
  const owner = foreignOwnerOf(path);
  if (owner === null) return ok(`${path} contains the master secret`);
  return warn(
    `${path} contains the master secret and belongs to user ${owner}, who can read and replace it. This command runs as ` +
      `user ${process.geteuid?.()}. If the service runs as user ${owner}, run commands as that user too ` +
      `(sudo -u '#${owner}'), so that the service can read the files that they write. Otherwise chown the file.`,
  );
}

/**
 * Reports when the secret of a data directory was rotated, and whether the previous one is still needed.
 * @param previous 0 if no private key is encrypted under the previous secret, null if that is unknown
 */
function checkReplaced({ database, serviceSecret }: DataConfig, previous: 0 | null): readonly Finding[] {
  if (database.kind !== 'embedded' || serviceSecret !== null) return [];
  const replacedAt = readStoredSecrets(database.directory)?.previous[0]?.replacedAt;
  if (replacedAt === undefined) return [];
  const when = new Date(replacedAt).toISOString().slice(0, 10);
  if (Date.now() < replacedAt + cookieLifetimeSeconds * 1000) {
    return [
      ok(
        `The master secret was rotated on ${when}; session cookies signed under the previous one stay valid for 7 days`,
      ),
    ];
  }
  const [what, note] =
    previous === null
      ? ['No session cookie', ', which fails if private keys still need it']
      : ['Nothing', ''];
  return [
    warn(
      `The master secret was rotated on ${when}. ${what} needs the previous one any more: run "latchkey rotate-secret ` +
        `--forget-previous"${note}. Keep the previous secret with the backups from before the rotation.`,
    ),
  ];
}

/** Checks that the master secret decrypts every private key, and whether a previous secret is still needed. */
export async function checkKeys(
  config: DataConfig,
  pool: Pool,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { rows } = await pool.query<{ made: boolean }>(
    `SELECT to_regclass('applications') IS NOT NULL AS made`,
  );
  if (rows[0]?.made !== true) return [ok('Nothing is encrypted yet'), ...checkReplaced(config, 0)];
  const keyring = findKeyring(config);
  if (keyring === null) return [];
  const { current, previous, unreadable } = await countApplicationKeys(pool, keyring, { signal });
  if (unreadable.length > 0) {
    return [
      fail(
        'The master secret cannot decrypt the private keys of ' +
          `${unreadable.length} of ${current + previous + unreadable.length} applications, such as ${unreadable[0]}: ` +
          'their customers are refused. Set SERVICE_SECRET_PREVIOUS to the secret that they were encrypted under, and ' +
          'run "latchkey rotate-secret".',
      ),
    ];
  }
  if (
    current + previous === 0 &&
    (await hasSecretFingerprint(pool)) &&
    (await isForeignSecret(pool, keyring))
  ) {
    return [fail(anotherSecret().message)];
  }
  if (previous > 0) {
    return [
      warn(
        `${previous} private keys are still encrypted under a previous secret: run "latchkey rotate-secret" before you ` +
          'remove that secret.',
      ),
    ];
  }
  const totp = await countTotpSecrets(pool, keyring);
  if (totp.previous > 0) {
    return [
      warn(
        `${totp.previous} TOTP secrets are still encrypted under a previous secret: run "latchkey rotate-secret" before ` +
          'you remove that secret.',
      ),
    ];
  }
  const webhooks = await countWebhookSecrets(pool, keyring, { signal });
  if (webhooks.previous > 0) {
    return [
      warn(
        `The signing secrets of ${webhooks.previous} webhooks are still encrypted under a previous secret: run "latchkey ` +
          'rotate-secret" before you remove that secret.',
      ),
    ];
  }
  return [
    ok(`The master secret decrypts the private keys of all ${current} applications`),
    ...(totp.unreadable === 0
      ? []
      : [
          warn(
            `The master secret cannot decrypt the TOTP secrets of ${totp.unreadable} accounts: their codes are refused, ` +
              'their recovery codes work. Set SERVICE_SECRET_PREVIOUS to the secret that they were encrypted under, or ' +
              'turn their TOTP off (latchkey reset-password --remove-totp).',
          ),
        ]),
    ...(webhooks.unreadable.length === 0
      ? []
      : [
          warn(
            `The master secret cannot decrypt the signing secrets of ${webhooks.unreadable.length} webhooks, such as ` +
              `${webhooks.unreadable[0]}: nothing is sent to them until their developers rotate their secrets.`,
          ),
        ]),
    ...checkReplaced(config, 0),
    ...(config.previousSecret === null
      ? []
      : [warn('No stored data needs SERVICE_SECRET_PREVIOUS: remove it 7 days after the rotation.')]),
  ];
}
