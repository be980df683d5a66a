import { hkdfSync, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createKeyring } from '../../src/crypto/keyring.ts';
import {
  openPrivateKey,
  PrivateKeyUnreadableError,
  sealPrivateKey,
  tryPrivateKey,
} from '../../src/crypto/sealed-private-key.ts';
import { createSigner } from '../../src/crypto/signer.ts';
import { newId } from '../../src/lib/ids.ts';

const master = new Uint8Array(32).map((_, index) => index);

const partsOf = (secret: Uint8Array) => {
  const { cookie, applicationKey, ticketSecret } = createKeyring(secret);
  const seed = cookie.privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  return [seed, applicationKey, ticketSecret].map((key) => Buffer.from(key).toString('hex'));
};

describe('the keyring', () => {
  test('is the same for the same master secret, so that data stays readable after a restart', () => {
    expect(partsOf(master)).toEqual(partsOf(Uint8Array.from(master)));
  });

  test('keeps its labels, because stored data depends on them', () => {
    const derived = ['cookie-signing/v1', 'application-private-key/v1', 'session-ticket/v1'].map((label) =>
      Buffer.from(hkdfSync('sha256', master, '', `latchkey/${label}`, 32)).toString('hex'),
    );
    expect(partsOf(master)).toEqual(derived);
  });

  test('has different keys of 32 bytes, none of them the master secret', () => {
    const parts = partsOf(master);
    for (const part of parts) expect(part).toHaveLength(64);
    expect(new Set([...parts, Buffer.from(master).toString('hex')]).size).toBe(4);
  });

  test('differs in every part for a master secret that differs in one bit', () => {
    const parts = partsOf(master);
    const turned = Uint8Array.from(master);
    turned[31] = (turned[31] ?? 0) ^ 1;
    for (const [index, part] of partsOf(turned).entries()) expect(part).not.toBe(parts[index]);
  });

  test('has the public cookie key that belongs to the private one', () => {
    const { cookie } = createKeyring(master);
    const [seed = ''] = partsOf(master);
    const spki = cookie.publicKey.export({ format: 'der', type: 'spki' });
    expect(Buffer.from(createSigner(Buffer.from(seed, 'hex')).publicKey)).toEqual(spki.subarray(-32));
    expect(cookie.publicKey.type).toBe('public');
  });
});

describe('a keyring after a rotation', () => {
  const [old, older] = [new Uint8Array(32).fill(2), new Uint8Array(32).fill(3)];
  const keyring = createKeyring(master, [
    { secret: old, replacedAt: 5 },
    { secret: older, replacedAt: null },
  ]);
  const id = newId();
  const seed = new Uint8Array(randomBytes(32));

  test.each([old, older])('decrypts data of a previous secret and reports that', (secret) => {
    const sealed = sealPrivateKey(createKeyring(secret), id, seed);
    const opened = tryPrivateKey(keyring, id, sealed);
    expect(opened?.isCurrent).toBe(false);
    expect(Uint8Array.from(openPrivateKey(keyring, id, sealed))).toEqual(seed);
    expect(() => openPrivateKey(keyring, newId(), sealed)).toThrow(PrivateKeyUnreadableError);
  });

  test('encrypts only under the current secret', () => {
    const sealed = sealPrivateKey(keyring, id, seed);
    expect(tryPrivateKey(keyring, id, sealed)?.isCurrent).toBe(true);
    expect(tryPrivateKey(createKeyring(master), id, sealed)?.isCurrent).toBe(true);
    expect(tryPrivateKey(createKeyring(old), id, sealed)).toBeNull();
  });

  test('decrypts no data of other secrets', () => {
    const sealed = sealPrivateKey(createKeyring(new Uint8Array(32).fill(4)), id, seed);
    expect(tryPrivateKey(keyring, id, sealed)).toBeNull();
  });
});

describe('a sealed private key', () => {
  const keyring = createKeyring(master);
  const id = newId();
  const seed = new Uint8Array(randomBytes(32));

  test('can be decrypted for its application, and signs as before', () => {
    const opened = openPrivateKey(keyring, id, sealPrivateKey(keyring, id, seed));
    expect(Uint8Array.from(opened)).toEqual(seed);
    expect(createSigner(opened).publicKey).toEqual(createSigner(seed).publicKey);
  });

  test('is 60 bytes without the seed, different each time', () => {
    const sealed = [sealPrivateKey(keyring, id, seed), sealPrivateKey(keyring, id, seed)];
    for (const bytes of sealed) {
      expect(bytes).toHaveLength(60);
      expect(Buffer.from(bytes).includes(Buffer.from(seed))).toBe(false);
    }
    expect(sealed[0]).not.toEqual(sealed[1]);
  });

  test('is refused for another application, so that rows cannot be swapped', () => {
    const sealed = sealPrivateKey(keyring, id, seed);
    for (const other of [newId(), id.toUpperCase(), '']) {
      expect(() => openPrivateKey(keyring, other, sealed)).toThrow(PrivateKeyUnreadableError);
    }
  });

  test('is refused under another master secret, with a message for the operator and without any key', () => {
    const sealed = sealPrivateKey(keyring, id, seed);
    const other = createKeyring(new Uint8Array(randomBytes(32)));
    expect(() => openPrivateKey(other, id, sealed)).toThrow(
      `The private key of application ${id} cannot be decrypted: it was encrypted with another SERVICE_SECRET. If the secret was changed, set SERVICE_SECRET_PREVIOUS to the old one`,
    );
  });

  test('is refused with any byte changed, or truncated', () => {
    const sealed = sealPrivateKey(keyring, id, seed);
    for (const index of sealed.keys()) {
      const forged = sealed.map((byte, at) => (at === index ? byte ^ 0x80 : byte));
      expect(() => openPrivateKey(keyring, id, forged)).toThrow(PrivateKeyUnreadableError);
    }
    for (const length of [0, 12, 28, 59]) {
      expect(() => openPrivateKey(keyring, id, sealed.subarray(0, length))).toThrow(
        PrivateKeyUnreadableError,
      );
    }
  });
});
