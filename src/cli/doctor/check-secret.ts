import type { Pool } from 'pg';
import type { DataConfig } from '../../config.ts';
import { cookieLifetimeSeconds } from '../../crypto/cookie-token.ts';
import { createKeyring } from '../../crypto/keyring.ts';
import { foreignOwnerOf, readStoredSecrets, secretPath } from '../../crypto/master-secret.ts';
import { hasSecretFingerprint } from '../../db/installation.ts';
import { findMasterSecrets } from '../../services/application/open-keyring.ts';
import { anotherSecret, isForeignSecret } from '../../services/application/own-secret.ts';
import { countApplicationKeys } from '../../services/application/rotate-keys.ts';
import { type Finding, findingsOf } from './finding.ts';
import { weaknessOf } from './weakness.ts';

const { ok, warn, fail } = findingsOf('secret');

/** What can be said of the master secret without the database. */
export function checkGivenSecret(config: DataConfig, hasDatabase: boolean): readonly Finding[] {
  const { database, serviceSecret, previousSecret } = config;
  if (serviceSecret !== null) {
    const weakness = weaknessOf(serviceSecret);
    const findings = [
      weakness === null
        ? ok('SERVICE_SECRET does not look like one that can be guessed')
        : warn(
            `SERVICE_SECRET may be guessed: ${weakness}. Make another (openssl rand -base64 32), and rotate.`,
          ),
    ];
    if (previousSecret === serviceSecret) {
      findings.push(warn('SERVICE_SECRET_PREVIOUS is the same as SERVICE_SECRET: remove it.'));
    }
    return findings;
  }
  if (database.kind === 'memory') return [ok('It is made at each start, and kept nowhere')];
  if (database.kind === 'server') {
    return [fail('SERVICE_SECRET is not set, and DATABASE_URL is: set it to what the service has.')];
  }
  const stored = readStoredSecrets(database.directory);
  const path = secretPath(database.directory);
  // What is encrypted under the one before, a look at the database knows.
  if (stored !== null) return [checkOwner(path), ...(hasDatabase ? [] : checkReplaced(config, null))];
  return [
    hasDatabase
      ? warn(`${path} is not there: if the database has been used, restore the file from a backup.`)
      : ok('The first start makes it'),
  ];
}

/** Root can read any file. Its owner can read and replace it; a service that runs as another user cannot read it. */
function checkOwner(path: string): Finding {
  const owner = foreignOwnerOf(path);
  if (owner === null) return ok(`${path} holds it`);
  return warn(
    `${path} holds it, and belongs to user ${owner}, who can read and replace it; this command runs as user ` +
      `${process.geteuid?.()}. If user ${owner} runs the service, run commands as that user too (sudo -u '#${owner}'), or ` +
      'the service may be unable to read the files that they write. Otherwise chown the file.',
  );
}

/**
 * When a secret of the data directory was rotated, and whether the one before is still needed.
 * @param previous how many private keys are encrypted under it; null where that is not known
 */
function checkReplaced({ database, serviceSecret }: DataConfig, previous: 0 | null): readonly Finding[] {
  if (database.kind !== 'embedded' || serviceSecret !== null) return [];
  const replacedAt = readStoredSecrets(database.directory)?.previous[0]?.replacedAt;
  if (replacedAt === undefined) return [];
  const when = new Date(replacedAt).toISOString().slice(0, 10);
  if (Date.now() < replacedAt + cookieLifetimeSeconds * 1000) {
    return [ok(`It was rotated on ${when}; session cookies of the one before are honoured for 7 days`)];
  }
  const [what, but] =
    previous === null ? ['no session cookie', ', which refuses while private keys need it'] : ['nothing', ''];
  return [
    warn(
      `It was rotated on ${when}, and ${what} needs the one before any more: run "latchkey rotate-secret ` +
        `--forget-previous"${but}. Keep that one with the backups from before.`,
    ),
  ];
}

/** Whether the secret opens what is in the database, and what still needs one before it. */
export async function checkKeys(
  config: DataConfig,
  pool: Pool,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { rows } = await pool.query<{ made: boolean }>(
    `SELECT to_regclass('applications') IS NOT NULL AS made`,
  );
  if (rows[0]?.made !== true) return [ok('Nothing is encrypted yet'), ...checkReplaced(config, 0)];
  const secrets = findMasterSecrets(config);
  if (secrets === null) return [];
  const keyring = createKeyring(secrets.current, secrets.previous);
  const { current, previous, unreadable } = await countApplicationKeys(pool, keyring, { signal });
  if (unreadable.length > 0) {
    return [
      fail(
        `It does not open the private keys of ${unreadable.length} of ${current + previous + unreadable.length} ` +
          `applications, such as ${unreadable[0]}: their customers are refused. Set SERVICE_SECRET_PREVIOUS to the ` +
          'secret that they were encrypted under, and run "latchkey rotate-secret".',
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
        `${previous} private keys are still encrypted under a secret before it: run "latchkey rotate-secret" before ` +
          'that one is removed.',
      ),
    ];
  }
  return [
    ok(`It opens the private keys of all ${current} applications`),
    ...checkReplaced(config, 0),
    ...(config.previousSecret === null
      ? []
      : [warn('Nothing at rest needs SERVICE_SECRET_PREVIOUS: remove it 7 days after the rotation.')]),
  ];
}
