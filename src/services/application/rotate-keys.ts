import type { Pool } from 'pg';
import type { Keyring } from '../../crypto/keyring.ts';
import { sealPrivateKey, tryPrivateKey } from '../../crypto/sealed-private-key.ts';
import {
  countSealed,
  type Rotation,
  type RotationOptions,
  rotateSealed,
  type SealedColumn,
  type SealedCounts,
} from '../rotate-sealed.ts';

const privateKeys: SealedColumn = {
  table: 'applications',
  column: 'private_key_encrypted',
  reseal(keyring, id, sealed) {
    const opened = tryPrivateKey(keyring, id, sealed);
    if (opened === null) return null;
    return { isCurrent: opened.isCurrent, sealAgain: () => sealPrivateKey(keyring, id, opened.seed) };
  },
};

/** Re-encrypts the private keys of all applications with the current master secret; see `rotateSealed`. */
export const rotateApplicationKeys = (
  pool: Pool,
  keyring: Keyring,
  options?: RotationOptions,
): Promise<Rotation> => rotateSealed(pool, keyring, privateKeys, options);

/** Counts the private keys without changing any. */
export const countApplicationKeys = (
  pool: Pool,
  keyring: Keyring,
  options?: RotationOptions,
): Promise<SealedCounts> => countSealed(pool, keyring, privateKeys, options);
