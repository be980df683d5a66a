import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openAesGcm, sealAesGcm } from '../../src/crypto/aead.ts';
import { createSigner } from '../../src/crypto/signer.ts';
import { decodeBase64 } from '../../src/protocol/base64.ts';
import { formatEnvelope, openEnvelope, parseEnvelope, sealEnvelope } from '../../src/protocol/envelope.ts';
import { getPublicKey, signBytes, verifyBytes } from '../../src/protocol/signature.ts';
import { flipBit } from '../../src/tools/vectors/material.ts';
import { havePublicVectors, wycheproof } from '../protocol/public-vectors.ts';
import { sealedVectors } from '../protocol/sealed-vectors.ts';

const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
/** A plain Uint8Array: Node.js returns Buffers, which compare as another type. */
const plain = (bytes: Uint8Array | null) => (bytes === null ? null : Uint8Array.from(bytes));

/** The invalid envelopes, except those with only invalid base64, which an AEAD does not see. */
const refusedEnvelopes = sealedVectors.seal.reject
  .filter(({ why }) => !why.startsWith('base64'))
  .map(({ why, keyHex, ivB64, ciphertextB64, tagB64 }) => {
    const bytes = (text: string) => decodeBase64(text) ?? expect.fail('not base64');
    return { why, keyHex, raw: { iv: bytes(ivB64), ciphertext: bytes(ciphertextB64), tag: bytes(tagB64) } };
  });

describe('the native signer', () => {
  it.each(sealedVectors.signature.accept)('signs vector %# as specified', (vector) => {
    const signer = createSigner(vector.seedHex);
    expect(signer.publicKey).toEqual(vector.publicKeyHex);
    expect(plain(signer.sign(vector.messageHex))).toEqual(vector.signatureHex);
  });

  it('agrees with the protocol implementation on any seed and message', () => {
    fc.assert(
      fc.property(bytesOf(32), fc.uint8Array({ maxLength: 200 }), (seed, message) => {
        const signer = createSigner(seed);
        expect(signer.publicKey).toEqual(getPublicKey(seed));
        expect(plain(signer.sign(message))).toEqual(signBytes(message, seed));
        expect(verifyBytes(signer.sign(message), message, signer.publicKey)).toBe(true);
      }),
      { numRuns: 25 },
    );
  });

  it('refuses a seed that is not 32 bytes', () => {
    for (const length of [0, 31, 33, 64])
      expect(() => createSigner(new Uint8Array(length))).toThrow(RangeError);
  });
});

describe('the native AEAD', () => {
  it.each(sealedVectors.seal.accept)('opens the vector: $why', ({ keyHex, plaintextHex, ...envelope }) => {
    const raw = parseEnvelope(envelope) ?? expect.fail('not an envelope');
    expect(plain(openAesGcm(keyHex, raw))).toEqual(plaintextHex);
  });
  it.each(refusedEnvelopes)('refuses the vector: $why', ({ keyHex, raw }) => {
    expect(openAesGcm(keyHex, raw)).toBeNull();
  });

  it('and the protocol implementation can open each other’s envelopes', () => {
    fc.assert(
      fc.property(bytesOf(32), fc.uint8Array({ maxLength: 300 }), (key, plaintext) => {
        expect(openEnvelope(key, formatEnvelope(sealAesGcm(key, plaintext)))).toEqual(plaintext);
        const raw = parseEnvelope(sealEnvelope(key, plaintext)) ?? expect.fail('not an envelope');
        expect(plain(openAesGcm(key, raw))).toEqual(plaintext);
      }),
    );
  });

  it('refuses any flipped bit of IV, ciphertext, tag, key and associated data', () => {
    const part = fc.constantFrom('iv', 'ciphertext', 'tag' as const);
    const data = fc.uint8Array({ minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(bytesOf(32), data, data, part, fc.nat(), (key, plaintext, associated, which, position) => {
        const turned = (bytes: Uint8Array) => flipBit(bytes, position % (bytes.length * 8));
        const raw = sealAesGcm(key, plaintext, associated);
        expect(plain(openAesGcm(key, raw, associated))).toEqual(plaintext);
        expect(openAesGcm(key, { ...raw, [which]: turned(raw[which]) }, associated)).toBeNull();
        expect(openAesGcm(turned(key), raw, associated)).toBeNull();
        expect(openAesGcm(key, raw, turned(associated))).toBeNull();
        expect(openAesGcm(key, raw)).toBeNull();
      }),
    );
  });

  it('uses a new IV each time', () => {
    const ivs = Array.from({ length: 100 }, () => sealAesGcm(new Uint8Array(32), new Uint8Array(1)).iv);
    expect(new Set(ivs.map((iv) => Buffer.from(iv).toString('hex'))).size).toBe(100);
  });

  it('refuses shortened tags and IVs of another length, and throws on a key of another length', () => {
    const key = new Uint8Array(32);
    const raw = sealAesGcm(key, new Uint8Array(5));
    for (const length of [0, 4, 8, 12, 15]) {
      expect(openAesGcm(key, { ...raw, tag: raw.tag.subarray(0, length) })).toBeNull();
    }
    for (const length of [0, 8, 16]) {
      expect(openAesGcm(key, { ...raw, iv: new Uint8Array(length) })).toBeNull();
    }
    for (const length of [0, 16, 24, 33]) {
      expect(() => sealAesGcm(new Uint8Array(length), new Uint8Array(1))).toThrow(RangeError);
      expect(() => openAesGcm(new Uint8Array(length), raw)).toThrow(RangeError);
    }
  });

  it.skipIf(!havePublicVectors)('opens or refuses every Wycheproof case of the supported sizes', () => {
    const ours = wycheproof
      .aesGcm()
      .filter((group) => group.keySize === 256 && group.ivSize === 96 && group.tagSize === 128)
      .flatMap((group) => group.tests);
    expect(ours.length).toBeGreaterThan(30);
    for (const { tcId, key, iv, aad, msg, ct, tag, result } of ours) {
      const opened = openAesGcm(key, { iv, ciphertext: ct, tag }, aad);
      expect(plain(opened), `case ${tcId}`).toEqual(result === 'valid' ? msg : null);
    }
  });
});
