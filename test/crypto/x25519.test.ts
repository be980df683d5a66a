import { describe, expect, test } from 'vitest';
import { agreeX25519, generateX25519, x25519PrivateKey } from '../../src/crypto/x25519.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));

// RFC 7748 §6.1.
const alice = {
  privateKey: hex('77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a'),
  publicKey: hex('8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a'),
};
const bob = {
  privateKey: hex('5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb'),
  publicKey: hex('de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f'),
};
const shared = hex('4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742');

test('both sides of RFC 7748 agree on its shared secret', () => {
  expect(agreeX25519(x25519PrivateKey(alice), bob.publicKey)).toEqual(shared);
  expect(agreeX25519(x25519PrivateKey(bob), alice.publicKey)).toEqual(shared);
});

test('generated pairs agree, and differ', () => {
  const [one, other] = [generateX25519(), generateX25519()];
  expect(one.privateKey).not.toEqual(other.privateKey);
  const point = agreeX25519(x25519PrivateKey(one), other.publicKey);
  expect(point).toHaveLength(32);
  expect(agreeX25519(x25519PrivateKey(other), one.publicKey)).toEqual(point);
});

describe('with a peer’s key of small order there is no shared secret:', () => {
  test.each([
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0100000000000000000000000000000000000000000000000000000000000000',
    'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
    '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  ])('%s', (peer) => {
    expect(agreeX25519(x25519PrivateKey(alice), hex(peer))).toBeNull();
  });
});

test('keys of another length are refused', () => {
  expect(() => agreeX25519(x25519PrivateKey(alice), hex('00'))).toThrow(RangeError);
  expect(() => x25519PrivateKey({ ...alice, privateKey: hex('00') })).toThrow(RangeError);
});
