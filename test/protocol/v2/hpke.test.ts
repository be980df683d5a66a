import { createPrivateKey, createPublicKey, diffieHellman } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { nativePrimitives } from '../../../src/crypto/native-primitives.ts';
import { utf8 } from '../../../src/protocol/bytes.ts';
import { deriveContext, keyScheduleContext } from '../../../src/protocol/v2/hpke.ts';
import { noblePrimitives } from '../../../src/protocol/v2/primitives.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const base64Url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');

function x25519(secret: Uint8Array, ownKey: Uint8Array, peer: Uint8Array): Uint8Array {
  const jwk = { kty: 'OKP', crv: 'X25519' };
  return new Uint8Array(
    diffieHellman({
      privateKey: createPrivateKey({
        key: { ...jwk, d: base64Url(secret), x: base64Url(ownKey) },
        format: 'jwk',
      }),
      publicKey: createPublicKey({ key: { ...jwk, x: base64Url(peer) }, format: 'jwk' }),
    }),
  );
}

// RFC 9180, A.2.1: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20Poly1305, base mode.
const official = {
  info: hex('4f6465206f6e2061204772656369616e2055726e'),
  ephemeralSecret: hex('f4ec9b33b792c372c1d2c2063507b684ef925b8c75a42dbcbf57d63ccd381600'),
  encapsulatedKey: hex('1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a'),
  recipientSecret: hex('8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb'),
  recipientKey: hex('4310ee97d88cc1f088a5576c77ab0cf5c3ac797f3d95139c6c84b5429c59662a'),
};

const filled = (byte: number, length = 32) => new Uint8Array(length).fill(byte);

const implementations = [
  { name: 'noble', primitives: noblePrimitives },
  { name: 'native', primitives: nativePrimitives },
];

describe.each(implementations)('HPKE with $name primitives', ({ primitives }) => {
  /** The context of the sender or of the recipient. */
  function contextOf(side: 'sender' | 'recipient') {
    const { info, ephemeralSecret, encapsulatedKey, recipientSecret, recipientKey } = official;
    const sharedPoint =
      side === 'sender'
        ? x25519(ephemeralSecret, encapsulatedKey, recipientKey)
        : x25519(recipientSecret, recipientKey, encapsulatedKey);
    const scheduleContext = keyScheduleContext(info, primitives);
    const context = deriveContext(
      { sharedPoint, encapsulatedKey, recipientKey, scheduleContext },
      primitives,
    );
    return context ?? expect.fail('the shared point is zero');
  }

  test.each(['sender', 'recipient'] as const)('the %s exports the secrets of RFC 9180', (side) => {
    const { exportSecret } = contextOf(side);
    expect(hexOf(exportSecret(hex(''), 32))).toBe(
      '4bbd6243b8bb54cec311fac9df81841b6fd61f56538a775e7c80a9f40160606e',
    );
    expect(hexOf(exportSecret(hex('00'), 32))).toBe(
      '8c1df14732580e5501b00f82b10a1647b40713191b7c1240ac80e2b68808ba69',
    );
    expect(hexOf(exportSecret(hex('54657374436f6e74657874'), 32))).toBe(
      '5acb09211139c43b3090489a9da433e8a30ee7188ba8b0a9a1ccf0c229283e53',
    );
  });

  test('a message that one side seals opens on the other side only, and unchanged', () => {
    const plaintext = utf8('Beauty is truth, truth beauty');
    const sealed = contextOf('sender').seal(plaintext);
    const recipient = contextOf('recipient');
    expect(hexOf(recipient.open(sealed) ?? expect.fail())).toBe(hexOf(plaintext));
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Uint8Array.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(recipient.open(changed)).toBeNull();
    }
    expect(recipient.open(sealed.subarray(0, -1))).toBeNull();
    expect(recipient.open(new Uint8Array())).toBeNull();
  });

  test.each(['info', 'encapsulatedKey', 'recipientKey'] as const)('another %s gives other keys', (member) => {
    const { ephemeralSecret, encapsulatedKey, recipientKey, info } = official;
    const sharedPoint = x25519(ephemeralSecret, encapsulatedKey, recipientKey);
    const agreement = { encapsulatedKey, recipientKey, info };
    const changed = Uint8Array.from(agreement[member]);
    changed[0] = (changed[0] ?? 0) ^ 1;
    const derive = ({ info, ...keys }: typeof agreement) => {
      const scheduleContext = keyScheduleContext(info, primitives);
      return deriveContext({ ...keys, sharedPoint, scheduleContext }, primitives);
    };
    const sealed = derive(agreement)?.seal(utf8('text')) ?? expect.fail();
    expect(derive({ ...agreement, [member]: changed })?.open(sealed)).toBeNull();
  });

  test('a shared point of zero, as a public key of small order has, gives no context', () => {
    const { encapsulatedKey, recipientKey } = official;
    const sharedPoint = filled(0);
    const scheduleContext = filled(0, 65);
    const agreement = { sharedPoint, encapsulatedKey, recipientKey, scheduleContext };
    expect(deriveContext(agreement, primitives)).toBeNull();
  });

  test('keys of another length are refused', () => {
    const { recipientKey } = official;
    const encapsulatedKey = filled(0, 31);
    const scheduleContext = filled(0, 65);
    const agreement = { sharedPoint: filled(1), encapsulatedKey, recipientKey, scheduleContext };
    expect(() => deriveContext(agreement, primitives)).toThrow(RangeError);
  });
});

test('native and noble primitives give the same bytes, at the edges of a block too', () => {
  const key = filled(3);
  const nonce = filled(4, 12);
  for (const length of [0, 1, 31, 32, 33, 64, 100, 300]) {
    const text = filled(5, length);
    const sealed = noblePrimitives.seal(key, nonce, text);
    expect(hexOf(nativePrimitives.seal(key, nonce, text))).toBe(hexOf(sealed));
    expect(hexOf(nativePrimitives.open(key, nonce, sealed) ?? expect.fail())).toBe(hexOf(text));
    expect(hexOf(nativePrimitives.extract(text, key))).toBe(hexOf(noblePrimitives.extract(text, key)));
    expect(hexOf(nativePrimitives.expand(key, text, length))).toBe(
      hexOf(noblePrimitives.expand(key, text, length)),
    );
  }
});

test.each(implementations)(
  '$name primitives derive as many bytes as HKDF can, and no more',
  ({ primitives }) => {
    expect(primitives.expand(filled(3), filled(4), 8160)).toHaveLength(8160);
    expect(() => primitives.expand(filled(3), filled(4), 8161)).toThrow();
  },
);
