import type { Pool } from 'pg';
import type { DataConfig } from '../../config.ts';
import { findKeyring } from '../../services/application/open-keyring.ts';
import { countServiceKeys } from '../../services/service-key/reseal.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn } = findingsOf('service keys');

const hour = 3_600;
/** A service replaces the newest key at 24 hours, and looks every minute. */
const maxAge = 25 * hour;

/** Checks the keys to which clients of protocol version 2 encrypt. */
export async function checkServiceKeys(config: DataConfig, pool: Pool): Promise<readonly Finding[]> {
  const keyring = findKeyring(config);
  const counts = keyring === null ? null : await countServiceKeys(pool, keyring);
  if (counts === null) return [];
  const { current, previous, unreadable, newestAge } = counts;
  if (newestAge === null) return [ok('There are no keys of protocol version 2 yet: a service creates one')];
  if (unreadable > 0) {
    return [
      warn(
        `No configured master secret decrypts ${unreadable} keys of protocol version 2. Clients that use them ask for ` +
          'another one, and they are destroyed after 73 hours. If an instance has another SERVICE_SECRET, set the same ' +
          'one on every instance.',
      ),
    ];
  }
  const age = Math.floor(newestAge / hour);
  const keys = `Keys of protocol version 2: ${current + previous}, the newest ${age} hours old`;
  return [
    newestAge > maxAge
      ? warn(
          `${keys}. A running service replaces the newest after 24 hours: if one is running, its log says why it has not.`,
        )
      : ok(keys),
  ];
}
