import { bytesToHex } from '@noble/hashes/utils.js';
import { decodeBase64, encodeBase64 } from '../../protocol/base64.ts';
import { concatBytes, utf8 } from '../../protocol/bytes.ts';
import { type SealedEnvelope, sealEnvelope } from '../../protocol/envelope.ts';
import { fixedBytes, flipBit } from './material.ts';

const key = fixedBytes('seal key', 32);
const iv = fixedBytes('seal iv', 12);

/** SPEC §5. */
export function sealVectors() {
  const plaintexts = [
    { why: 'empty', plaintext: new Uint8Array() },
    { why: 'one byte', plaintext: new Uint8Array([0]) },
    { why: 'one block', plaintext: fixedBytes('plaintext', 16) },
    { why: 'more than one block', plaintext: fixedBytes('plaintext', 100) },
    { why: 'JSON', plaintext: utf8('{"licenseKey":"AAAAA-BBBBB","v":1}') },
  ];
  return {
    accept: plaintexts.map(({ why, plaintext }) => ({
      why,
      keyHex: bytesToHex(key),
      plaintextHex: bytesToHex(plaintext),
      ...sealEnvelope(key, plaintext, iv),
    })),
    reject: tampered(sealEnvelope(key, fixedBytes('plaintext', 100), iv)),
  };
}

function tampered(good: SealedEnvelope) {
  const keyHex = bytesToHex(key);
  const bytes = (text: string) => decodeBase64(text) ?? new Uint8Array();
  const tag = bytes(good.tagB64);
  const ciphertext = bytes(good.ciphertextB64);
  return [
    { why: 'a bit of the IV is flipped', keyHex, ...good, ivB64: encodeBase64(flipBit(iv, 0)) },
    {
      why: 'the first bit of the ciphertext is flipped',
      keyHex,
      ...good,
      ciphertextB64: encodeBase64(flipBit(ciphertext, 0)),
    },
    {
      why: 'the last bit of the ciphertext is flipped',
      keyHex,
      ...good,
      ciphertextB64: encodeBase64(flipBit(ciphertext, ciphertext.length * 8 - 1)),
    },
    { why: 'a bit of the tag is flipped', keyHex, ...good, tagB64: encodeBase64(flipBit(tag, 127)) },
    {
      why: 'the ciphertext lacks a byte',
      keyHex,
      ...good,
      ciphertextB64: encodeBase64(ciphertext.subarray(1)),
    },
    { why: 'no ciphertext', keyHex, ...good, ciphertextB64: '' },
    {
      why: 'the right tag, shortened to 12 bytes',
      keyHex,
      ...good,
      tagB64: encodeBase64(tag.subarray(0, 12)),
    },
    {
      why: 'the last four bytes of the ciphertext moved to the front of the tag',
      keyHex,
      ...good,
      ciphertextB64: encodeBase64(ciphertext.subarray(0, -4)),
      tagB64: encodeBase64(concatBytes(ciphertext.subarray(-4), tag)),
    },
    {
      why: 'the first four bytes of the tag moved to the end of the ciphertext',
      keyHex,
      ...good,
      ciphertextB64: encodeBase64(concatBytes(ciphertext, tag.subarray(0, 4))),
      tagB64: encodeBase64(tag.subarray(4)),
    },
    { why: 'no tag', keyHex, ...good, tagB64: '' },
    { why: 'the IV has 16 bytes', keyHex, ...good, ivB64: encodeBase64(fixedBytes('seal iv', 16)) },
    { why: 'no IV', keyHex, ...good, ivB64: '' },
    { why: 'another key', ...good, keyHex: bytesToHex(flipBit(key, 0)) },
    { why: 'base64 without padding', keyHex, ...good, tagB64: good.tagB64.replaceAll('=', '') },
    { why: 'base64 with a line break', keyHex, ...good, ciphertextB64: `${good.ciphertextB64}\n` },
    {
      why: 'IV and tag exchanged',
      keyHex,
      ivB64: good.tagB64,
      ciphertextB64: good.ciphertextB64,
      tagB64: good.ivB64,
    },
  ];
}
