import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createPrivateKeys } from '../../src/dashboard/vault/private-keys.ts';
import { createVault, open, seal, unlock } from '../../src/dashboard/vault/vault-key.ts';
import { keyPrefix } from '../../src/services/license/mask.ts';

const passphrase = 'four words that stay private';

test('a vault opens with its passphrase, and with no other', async () => {
  const { check } = await createVault(passphrase);
  const key = await unlock(passphrase, check);
  expect(key).not.toBeNull();
  expect(key?.extractable).toBe(false);
  expect(await unlock(`${passphrase}.`, check)).toBeNull();
});

test('a note can be read with the key of the vault, also after it was unlocked again', async () => {
  const { key, check } = await createVault(passphrase);
  const sealed = await seal(key, 'Order 10482 · Grüße 🔑');
  const again = await unlock(passphrase, check);
  expect(again && (await open(again, sealed))).toBe('Order 10482 · Grüße 🔑');
});

test('a note of another vault, and a changed one, cannot be read', async () => {
  const [one, other] = await Promise.all([createVault(passphrase), createVault(passphrase)]);
  const sealed = await seal(one.key, 'a note');
  expect(await open(other.key, sealed)).toBeNull();
  const bytes = Buffer.from(sealed, 'base64');
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  expect(await open(one.key, bytes.toString('base64'))).toBeNull();
  expect(await open(one.key, 'not base64 at all')).toBeNull();
});

test('the same text is never sealed the same way twice', async () => {
  const { key } = await createVault(passphrase);
  expect(await seal(key, 'a note')).not.toBe(await seal(key, 'a note'));
});

test('private keys have the hash and the prefix that the service would compute', async () => {
  for (const mask of ['XXXXX-XXXXX-XXXXX', 'LAB-XXXXXXXX', 'X'.repeat(40)]) {
    for (const { licenseKey, licenseKeyHash, licenseKeyPrefix } of await createPrivateKeys(mask, 20)) {
      expect(licenseKeyHash).toBe(createHash('sha256').update(licenseKey).digest('hex'));
      expect(licenseKeyPrefix).toBe(keyPrefix(licenseKey, mask));
      expect(licenseKeyPrefix).not.toBe(licenseKey);
    }
  }
});
