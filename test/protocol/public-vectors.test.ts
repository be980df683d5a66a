import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/protocol/canonical-json.ts';
import { formatEnvelope, openEnvelope, sealEnvelope } from '../../src/protocol/envelope.ts';
import { deriveSessionKey } from '../../src/protocol/key-schedule.ts';
import { verifyBytes } from '../../src/protocol/signature.ts';
import { isWellFormedText } from '../../src/protocol/text.ts';
import { havePublicVectors, readPublicVector, wycheproof } from './public-vectors.ts';

describe.skipIf(!havePublicVectors)('public vectors', () => {
  it('Ed25519: every Wycheproof case is accepted or refused as it should be', () => {
    let cases = 0;
    for (const { publicKey, tests } of wycheproof.ed25519()) {
      for (const { tcId, msg, sig, result } of tests) {
        cases++;
        expect(verifyBytes(sig, msg, publicKey.pk), `case ${tcId}`).toBe(result === 'valid');
      }
    }
    expect(cases).toBe(151);
  });

  it('AES-GCM: cases of our key, IV and tag size are opened, sealed or refused as they should be', () => {
    const ours = wycheproof
      .aesGcm()
      .filter((group) => group.keySize === 256 && group.ivSize === 96 && group.tagSize === 128)
      .flatMap((group) => group.tests)
      .filter(({ aad }) => aad.length === 0);
    expect(ours.length).toBeGreaterThan(10);
    for (const { tcId, key, iv, msg, ct, tag, result } of ours) {
      const envelope = formatEnvelope({ iv, ciphertext: ct, tag });
      expect(openEnvelope(key, envelope), `case ${tcId}`).toEqual(result === 'valid' ? msg : null);
      if (result === 'valid') expect(sealEnvelope(key, msg, iv), `case ${tcId}`).toEqual(envelope);
    }
  });

  it('AES-GCM: other IV sizes do not open and other key sizes throw, whatever the case says', () => {
    let cases = 0;
    for (const { keySize, ivSize, tests } of wycheproof.aesGcm()) {
      for (const { tcId, key, iv, ct, tag } of tests) {
        const open = () => openEnvelope(key, formatEnvelope({ iv, ciphertext: ct, tag }));
        if (keySize !== 256) expect(open, `case ${tcId}`).toThrow(RangeError);
        else if (ivSize !== 96) expect(open(), `case ${tcId}`).toBeNull();
        else continue;
        cases++;
      }
    }
    expect(cases).toBeGreaterThan(150);
  });

  it('HKDF-SHA256: every Wycheproof case derives as it should', () => {
    let cases = 0;
    for (const { tcId, ikm, salt, info, size, okm, result } of wycheproof.hkdf().flatMap((g) => g.tests)) {
      cases++;
      const derive = () => hkdf(sha256, ikm, salt, info, size);
      if (result === 'valid') expect(derive(), `case ${tcId}`).toEqual(okm);
      else expect(derive, `case ${tcId}`).toThrow();
    }
    expect(cases).toBe(86);
  });

  it.each(['arrays', 'french', 'structures', 'unicode', 'values', 'weird'])(
    'RFC 8785: %s comes out byte for byte',
    (name) => {
      const input = readPublicVector(`rfc8785/input/${name}.json`);
      const output = readPublicVector(`rfc8785/output/${name}.json`);
      expect(canonicalJson(JSON.parse(input))).toBe(output);
    },
  );

  it('canonical JSON carries every naughty string, and sealing gives it back', () => {
    const strings: string[] = JSON.parse(readPublicVector('naughty-strings.json'));
    expect(strings).toHaveLength(515);
    const key = new Uint8Array(32).fill(1);
    for (const text of strings.filter(isWellFormedText)) {
      const sealed = sealEnvelope(key, new TextEncoder().encode(canonicalJson({ [text]: text })));
      const opened = openEnvelope(key, sealed) ?? expect.fail('did not open');
      expect(JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(opened))).toEqual({
        [text]: text,
      });
    }
  });
});

it('the key schedule refuses nonces that are not 32 bytes', () => {
  const good = new Uint8Array(32);
  for (const length of [0, 16, 31, 33, 64]) {
    const bad = new Uint8Array(length);
    const rest = { salt: good, appId: 'a' };
    expect(() => deriveSessionKey({ clientNonce: bad, serverNonce: good, ...rest })).toThrow(RangeError);
    expect(() => deriveSessionKey({ clientNonce: good, serverNonce: bad, ...rest })).toThrow(RangeError);
  }
});
