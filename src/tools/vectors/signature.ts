import { utils } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { concatBytes, utf8 } from '../../protocol/bytes.ts';
import { getPublicKey, signBytes } from '../../protocol/signature.ts';
import { fixedBytes, flipBit } from './material.ts';

const seed = fixedBytes('seed', 32);
const publicKey = getPublicKey(seed);

/** The order of the base point, L (RFC 8032 §5.1). */
const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n;

/** Every encoding of a point whose order divides 8 (SPEC §7). None is a valid public key. */
export const smallOrderKeys = [
  { why: 'the identity', hex: `01${'00'.repeat(31)}` },
  { why: 'order 2', hex: `ec${'ff'.repeat(30)}7f` },
  { why: 'order 4', hex: '00'.repeat(32) },
  { why: 'order 4, other sign', hex: `${'00'.repeat(31)}80` },
  { why: 'order 8', hex: '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05' },
  { why: 'order 8, other sign', hex: '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85' },
  { why: 'order 8, other y', hex: 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a' },
  {
    why: 'order 8, other y, other sign',
    hex: 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  },
  { why: 'the identity, y not reduced', hex: `ee${'ff'.repeat(30)}7f` },
  { why: 'the identity, y not reduced, sign of zero set', hex: `ee${'ff'.repeat(31)}` },
  { why: 'the identity, sign of zero set', hex: `01${'00'.repeat(30)}80` },
  { why: 'order 2, sign of zero set', hex: `ec${'ff'.repeat(31)}` },
  { why: 'order 4, y not reduced', hex: `ed${'ff'.repeat(30)}7f` },
  { why: 'order 4, y not reduced, other sign', hex: `ed${'ff'.repeat(31)}` },
];

/** SPEC §7: strict verification. */
export function signatureVectors() {
  const accept = [new Uint8Array(), utf8('{"v":1}'), fixedBytes('message', 300)].map((message) => ({
    seedHex: bytesToHex(seed),
    publicKeyHex: bytesToHex(publicKey),
    messageHex: bytesToHex(message),
    signatureHex: bytesToHex(signBytes(message, seed)),
  }));
  return { accept, reject: [...forged(), nonCanonicalR(), ...smallOrder()] };
}

function forged() {
  const message = utf8('{"code":"OK","success":true,"v":1}');
  const signature = signBytes(message, seed);
  const r = signature.subarray(0, 32);
  const s = signature.subarray(32);
  const good = {
    publicKeyHex: bytesToHex(publicKey),
    messageHex: bytesToHex(message),
    signatureHex: bytesToHex(signature),
  };
  const withSignature = (why: string, bytes: Uint8Array) => ({
    why,
    ...good,
    signatureHex: bytesToHex(bytes),
  });
  return [
    withSignature('a bit of R is flipped', flipBit(signature, 3)),
    withSignature('a bit of S is flipped', flipBit(signature, 256)),
    withSignature('S plus the group order: not canonical', concatBytes(r, addGroupOrder(s))),
    withSignature('R and S exchanged', concatBytes(s, r)),
    withSignature('a byte is missing', signature.subarray(0, 63)),
    withSignature('a byte too many', concatBytes(signature, new Uint8Array(1))),
    withSignature('empty', new Uint8Array()),
    withSignature('all zero', new Uint8Array(64)),
    { why: 'a bit of the message is flipped', ...good, messageHex: bytesToHex(flipBit(message, 0)) },
    {
      why: 'another public key',
      ...good,
      publicKeyHex: bytesToHex(getPublicKey(fixedBytes('other seed', 32))),
    },
    { why: 'a public key of 31 bytes', ...good, publicKeyHex: bytesToHex(publicKey.subarray(0, 31)) },
    { why: 'a public key that is not on the curve', ...good, publicKeyHex: `02${'00'.repeat(31)}` },
  ];
}

/**
 * R is the identity with an unreduced y, and S fits: only the encoding of R is wrong. The holder of the private key can
 * create such a signature, and one message then has two signatures.
 */
function nonCanonicalR() {
  const message = utf8('{"code":"OK","success":true,"v":1}');
  const r = hexToBytes(`ee${'ff'.repeat(30)}7f`);
  const challenge = littleEndian(sha512(concatBytes(r, publicKey, message)));
  const s = (challenge * utils.getExtendedPublicKey(seed).scalar) % groupOrder;
  return {
    why: 'R is not canonical: its y is not reduced',
    publicKeyHex: bytesToHex(publicKey),
    messageHex: bytesToHex(message),
    signatureHex: bytesToHex(concatBytes(r, scalarBytes(s))),
  };
}

/** With R the identity and S zero, the equation holds for every message under many of these keys. */
function smallOrder() {
  const signature = hexToBytes(`01${'00'.repeat(63)}`);
  return smallOrderKeys.flatMap(({ why, hex }) =>
    ['{"v":1}', '{"code":"OK","v":1}'].map((message) => ({
      why: `public key of small order: ${why}`,
      publicKeyHex: hex,
      messageHex: bytesToHex(utf8(message)),
      signatureHex: bytesToHex(signature),
    })),
  );
}

export function addGroupOrder(scalar: Uint8Array): Uint8Array {
  return scalarBytes(littleEndian(scalar) + groupOrder);
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytesToHex(Uint8Array.from(bytes).reverse())}`);
}

/** 32 bytes, little-endian. */
function scalarBytes(value: bigint): Uint8Array {
  return hexToBytes(value.toString(16).padStart(64, '0')).reverse();
}
