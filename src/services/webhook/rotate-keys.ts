import type { Pool } from 'pg';
import type { Keyring } from '../../crypto/keyring.ts';
import { openWebhookSecrets, sealWebhookSecrets } from '../../crypto/sealed-webhook-secrets.ts';
import {
  countSealed,
  type Rotation,
  type RotationOptions,
  rotateSealed,
  type SealedColumn,
  type SealedCounts,
} from '../rotate-sealed.ts';

const secrets: SealedColumn = {
  table: 'webhooks',
  column: 'secrets_encrypted',
  reseal(keyring, id, sealed) {
    const opened = openWebhookSecrets(keyring, id, sealed);
    if (opened === null) return null;
    return { isCurrent: opened.isCurrent, sealAgain: () => sealWebhookSecrets(keyring, id, opened) };
  },
};

const none: SealedCounts = { current: 0, previous: 0, unreadable: [] };

/** Whether the database has the table: commands also read databases that are not migrated yet. */
async function hasWebhooks(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ made: boolean }>(`SELECT to_regclass('webhooks') IS NOT NULL AS made`);
  return rows[0]?.made === true;
}

/** Re-encrypts the secrets of all webhooks with the current master secret; see `rotateSealed`. */
export const resealWebhookSecrets = async (
  pool: Pool,
  keyring: Keyring,
  options?: RotationOptions,
): Promise<Rotation> =>
  (await hasWebhooks(pool)) ? rotateSealed(pool, keyring, secrets, options) : { rotated: 0, left: none };

/** Counts them without changing any. */
export const countWebhookSecrets = async (
  pool: Pool,
  keyring: Keyring,
  options?: RotationOptions,
): Promise<SealedCounts> => ((await hasWebhooks(pool)) ? countSealed(pool, keyring, secrets, options) : none);
