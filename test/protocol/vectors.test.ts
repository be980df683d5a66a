import { readFileSync } from 'node:fs';
import { verify } from '@noble/ed25519';
import { describe, expect, it } from 'vitest';
import { decodeBase64, encodeBase64 } from '../../src/protocol/base64.ts';
import { canonicalJson } from '../../src/protocol/canonical-json.ts';
import { clientPaths } from '../../src/protocol/constants.ts';
import { openEnvelope, parseEnvelope, sealEnvelope } from '../../src/protocol/envelope.ts';
import { deriveSessionKey } from '../../src/protocol/key-schedule.ts';
import { sealedResponse, sessionInitRequest, sessionInitResponse } from '../../src/protocol/messages.ts';
import { getPublicKey, signBytes, verifyBytes, verifySignatureB64 } from '../../src/protocol/signature.ts';
import { vectorFiles } from '../../src/tools/vectors/files.ts';
import { sealedVectors } from './sealed-vectors.ts';

const utf8 = (text: string) => new TextEncoder().encode(text);

describe.each(Object.entries(vectorFiles()))('the committed %s', (name, text) => {
  const file = new URL(`../vectors/${name}`, import.meta.url);

  it('equals the output of the generator', () => {
    // Not `toBe`: its report of a difference in a large text takes minutes.
    expect(readFileSync(file, 'utf8') === text).toBe(true);
  });
  it('is ASCII', () => {
    expect(readFileSync(file).every((byte) => byte < 0x7f)).toBe(true);
  });
});

describe('base64', () => {
  it.each(sealedVectors.base64.accept)('"$text" is read and written', ({ text, hex }) => {
    expect(decodeBase64(text)).toEqual(hex);
    expect(encodeBase64(hex)).toBe(text);
    expect(Buffer.from(hex).toString('base64')).toBe(text);
  });
  it.each(sealedVectors.base64.reject)('refused: $why', ({ text }) => {
    expect(decodeBase64(text)).toBeNull();
  });
});

describe('canonical JSON', () => {
  it.each(sealedVectors.canonicalJson.accept)('$why', ({ json, canonical, canonicalHex }) => {
    expect(canonicalJson(JSON.parse(json))).toBe(canonical);
    expect(utf8(canonical)).toEqual(canonicalHex);
  });
  it.each(sealedVectors.canonicalJson.reject)('refused: $why', ({ json }) => {
    expect(() => canonicalJson(JSON.parse(json))).toThrow();
  });
});

describe('key schedule', () => {
  it.each(sealedVectors.keySchedule)('$why', ({ clientNonceHex, serverNonceHex, saltHex, appId, keyHex }) => {
    const input = { clientNonce: clientNonceHex, serverNonce: serverNonceHex, salt: saltHex, appId };
    expect(deriveSessionKey(input)).toEqual(keyHex);
  });
  it('gives another key for each input', () => {
    const keys = sealedVectors.keySchedule.map(({ keyHex }) => Buffer.from(keyHex).toString('hex'));
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('sealing', () => {
  it.each(sealedVectors.seal.accept)('$why', ({ keyHex, plaintextHex, why: _why, ...envelope }) => {
    const iv = parseEnvelope(envelope)?.iv;
    expect(sealEnvelope(keyHex, plaintextHex, iv)).toEqual(envelope);
    expect(openEnvelope(keyHex, envelope)).toEqual(plaintextHex);
  });
  it.each(sealedVectors.seal.reject)('refused: $why', ({ keyHex, why: _why, ...envelope }) => {
    expect(openEnvelope(keyHex, envelope)).toBeNull();
  });
});

describe('signatures', () => {
  it.each(sealedVectors.signature.accept)(
    'case %#',
    ({ seedHex, publicKeyHex, messageHex, signatureHex }) => {
      expect(getPublicKey(seedHex)).toEqual(publicKeyHex);
      expect(signBytes(messageHex, seedHex)).toEqual(signatureHex);
      expect(verifyBytes(signatureHex, messageHex, publicKeyHex)).toBe(true);
    },
  );
  it.each(sealedVectors.signature.reject)('refused: $why', ({ publicKeyHex, messageHex, signatureHex }) => {
    expect(verifyBytes(signatureHex, messageHex, publicKeyHex)).toBe(false);
  });
});

it('signatures under small-order keys are cases that a lax verifier accepts', () => {
  const cases = sealedVectors.signature.reject.filter(({ why }) => why.includes('small order'));
  expect(cases).toHaveLength(28);
  for (const { publicKeyHex, messageHex, signatureHex } of cases) {
    expect(verify(signatureHex, messageHex, publicKeyHex)).toBe(true);
  }
});

it('a signature whose R is not canonical is a case that a lax verifier accepts', () => {
  const [found] = sealedVectors.signature.reject.filter(({ why }) => why.startsWith('R is not canonical'));
  if (found === undefined) expect.fail('There is no such case');
  expect(verify(found.signatureHex, found.messageHex, found.publicKeyHex)).toBe(true);
});

describe('the exchange', () => {
  const { init, validate, ...exchange } = sealedVectors.exchange;
  const publicKey = getPublicKey(exchange.seedHex);
  const request = sessionInitRequest.parse(init.request);
  const answer = sessionInitResponse.parse(init.answer);
  const bytes = (text: string) => decodeBase64(text) ?? expect.fail('not base64');

  it('has the public key of its seed', () => {
    expect(encodeBase64(publicKey)).toBe(exchange.publicKeyB64);
  });
  it('signs the six members of the handshake', () => {
    expect(Object.keys(JSON.parse(init.signedText))).toEqual([
      'appId',
      'hkdfSaltB64',
      'serverNonceB64',
      'sessionId',
      'timestamp',
      'v',
    ]);
    expect(verifySignatureB64(answer.signatureB64, JSON.parse(init.signedText), publicKey)).toBe(true);
  });
  it('derives the session key', () => {
    const key = deriveSessionKey({
      clientNonce: bytes(request.clientNonceB64),
      serverNonce: bytes(answer.serverNonceB64),
      salt: bytes(answer.hkdfSaltB64),
      appId: exchange.appId,
    });
    expect(key).toEqual(exchange.sessionKeyHex);
  });
  it('opens to the inner texts, and the answer is signed over its own bytes', () => {
    expect(openEnvelope(exchange.sessionKeyHex, validate.request)).toEqual(utf8(validate.innerRequest));
    expect(openEnvelope(exchange.sessionKeyHex, validate.answer)).toEqual(utf8(validate.innerAnswer));
    expect(canonicalJson(JSON.parse(validate.innerAnswer))).toBe(validate.innerAnswer);
    expect(verifyBytes(bytes(validate.answer.signatureB64), utf8(validate.innerAnswer), publicKey)).toBe(
      true,
    );
  });
});

const exchanges = [...sealedVectors.clientAuth, ...sealedVectors.devices];

describe.each(exchanges)('$verb', ({ verb, path, answers, ...exchanged }) => {
  const { sessionKeyHex, seedHex } = sealedVectors.exchange;
  const publicKey = getPublicKey(seedHex);
  const signatureOf = (answer: { signatureB64: string }) =>
    decodeBase64(answer.signatureB64) ?? expect.fail();

  it('has its path, and a request that opens to its inner text', () => {
    expect(path).toBe(clientPaths[verb]);
    expect(openEnvelope(sessionKeyHex, exchanged.request)).toEqual(utf8(exchanged.innerRequest));
  });
  it('has an answer with the nonce of its request, signed over its own bytes', () => {
    const { innerAnswer, innerRequest, answer } = exchanged;
    expect(openEnvelope(sessionKeyHex, answer)).toEqual(utf8(innerAnswer));
    expect(canonicalJson(JSON.parse(innerAnswer))).toBe(innerAnswer);
    expect(verifyBytes(signatureOf(answer), utf8(innerAnswer), publicKey)).toBe(true);
    expect(JSON.parse(innerAnswer).nonce).toBe(JSON.parse(innerRequest).nonce);
  });
  it('states the inner text of each answer that is trusted', () => {
    const trusted = answers.filter(({ expect: expected }) => expected === 'valid' || expected === 'refused');
    expect(trusted.length).toBeGreaterThan(10);
    for (const { why, answer, innerAnswer } of trusted) {
      const sealed = sealedResponse.parse(answer);
      expect(openEnvelope(sessionKeyHex, sealed), why).toEqual(utf8(innerAnswer ?? ''));
    }
  });
});
