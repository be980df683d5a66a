import { decodeBase64, encodeBase64 } from '../../protocol/base64.ts';
import { goodRequest, now, sealRequest, sessionId } from './exchange.ts';
import { fixedBytes, flipBit } from './material.ts';
import { labelCases } from './v2/request-shapes.ts';

export interface RequestVector {
  readonly why: string;
  readonly request: unknown;
  /** `accept`, the code of a plaintext failure, or `sealed VALIDATION_FAILED`. */
  readonly expect: string;
  /** True if the server has already accepted the same nonce in this session. */
  readonly nonceUsed?: true;
}

/** Requests to validate, with the server's result (SPEC §10, steps 1 to 5). */
export function requestVectors(): RequestVector[] {
  return [...outerBodies(), ...envelopes(), ...heads(), ...rests()];
}

const { licenseKey: _key, ...withoutKey } = goodRequest;
const { nonce: _nonce, ...withoutNonce } = goodRequest;
const good = sealRequest('good', JSON.stringify(goodRequest));

function inner(why: string, members: unknown, expect: string): RequestVector {
  return { why, request: sealRequest(why, JSON.stringify(members)), expect };
}

function outerBodies(): RequestVector[] {
  const { tagB64: _tag, ...withoutTag } = good;
  const malformed = 'VALIDATION_FAILED';
  return [
    { why: 'good', request: good, expect: 'accept' },
    { why: 'an unknown outer member', request: { ...good, more: 1 }, expect: 'accept' },
    { why: 'a plaintext body', request: { licenseKey: 'AAAAA' }, expect: 'CRYPTO_REQUIRED' },
    {
      why: 'a plaintext body with a session',
      request: { sessionId, licenseKey: 'A' },
      expect: 'CRYPTO_REQUIRED',
    },
    { why: 'an empty object', request: {}, expect: 'CRYPTO_REQUIRED' },
    { why: 'no tag', request: withoutTag, expect: malformed },
    { why: 'the tag is a number', request: { ...good, tagB64: 1 }, expect: malformed },
    { why: 'the session is null', request: { ...good, sessionId: null }, expect: malformed },
    { why: 'the session is empty', request: { ...good, sessionId: '' }, expect: malformed },
    {
      why: 'the session has 1025 characters',
      request: { ...good, sessionId: 'x'.repeat(1025) },
      expect: malformed,
    },
    {
      why: 'the ciphertext is too long',
      request: { ...good, ciphertextB64: 'AAAA'.repeat(4097) },
      expect: malformed,
    },
    { why: 'an array', request: [good], expect: malformed },
    { why: 'a text', request: 'good', expect: malformed },
  ];
}

function envelopes(): RequestVector[] {
  const ciphertext = decodeBase64(good.ciphertextB64) ?? new Uint8Array();
  const failed = 'DECRYPT_FAIL';
  return [
    {
      why: 'a session that nobody issued',
      request: { ...good, sessionId: 'unknown' },
      expect: 'SESSION_EXPIRED',
    },
    {
      why: 'a session that nobody issued and a broken envelope: the session is judged first',
      request: { ...good, sessionId: 'unknown', tagB64: '' },
      expect: 'SESSION_EXPIRED',
    },
    {
      why: 'a bit of the ciphertext is flipped',
      request: { ...good, ciphertextB64: encodeBase64(flipBit(ciphertext, 9)) },
      expect: failed,
    },
    {
      why: 'an IV of 16 bytes',
      request: { ...good, ivB64: encodeBase64(new Uint8Array(16)) },
      expect: failed,
    },
    {
      why: 'a tag of 15 bytes',
      request: { ...good, tagB64: encodeBase64(new Uint8Array(15)) },
      expect: failed,
    },
    { why: 'base64 without padding', request: { ...good, tagB64: good.tagB64.slice(0, -2) }, expect: failed },
    {
      why: 'sealed under another key',
      request: sealRequest('other key', JSON.stringify(goodRequest), fixedBytes('other key', 32)),
      expect: failed,
    },
  ];
}

function heads(): RequestVector[] {
  const malformed = 'sealed VALIDATION_FAILED';
  const text = (why: string, innerText: string): RequestVector => ({
    why,
    request: sealRequest(why, innerText),
    expect: malformed,
  });
  const nonceOf = (length: number) => ({ ...goodRequest, nonce: encodeBase64(fixedBytes('nonce', length)) });
  return [
    text('not JSON', 'licenseKey=AAAAA'),
    text('empty plaintext', ''),
    text('an inner array', '[]'),
    text('inner null', 'null'),
    inner('no nonce', withoutNonce, malformed),
    inner('a nonce of 7 bytes', nonceOf(7), malformed),
    inner('a nonce of 8 bytes', nonceOf(8), 'accept'),
    inner('a nonce of 64 bytes', nonceOf(64), 'accept'),
    inner('a nonce of 65 bytes', nonceOf(65), malformed),
    inner(
      'a nonce without padding',
      { ...goodRequest, nonce: goodRequest.nonce.replaceAll('=', '') },
      malformed,
    ),
    inner('inner version 2', { ...goodRequest, v: 2 }, malformed),
    inner('inner version as text', { ...goodRequest, v: '1' }, malformed),
    inner('inner time as text', { ...goodRequest, timestamp: String(now) }, malformed),
    inner('inner time with a fraction', { ...goodRequest, timestamp: now + 0.5 }, malformed),
    inner('inner time in milliseconds', { ...goodRequest, timestamp: now * 1000 }, 'CLOCK_SKEW'),
    inner('echoNonce as text', { ...goodRequest, echoNonce: 'true' }, malformed),
    inner('echoRequest as text', { ...goodRequest, echoRequest: 'true' }, malformed),
    inner('the name of this call', { ...goodRequest, echoRequest: true, call: 'validate' }, 'accept'),
    inner('the name of another call', { ...goodRequest, echoRequest: true, call: 'login' }, malformed),
    inner('a call that is no name', { ...goodRequest, echoRequest: true, call: null }, malformed),
    inner('the name of another call, without echoRequest', { ...goodRequest, call: 'login' }, 'accept'),
    inner('60 seconds behind', { ...goodRequest, timestamp: now - 60 }, 'accept'),
    inner('60 seconds ahead', { ...goodRequest, timestamp: now + 60 }, 'accept'),
    inner('61 seconds behind', { ...goodRequest, timestamp: now - 61 }, 'CLOCK_SKEW'),
    inner('61 seconds ahead', { ...goodRequest, timestamp: now + 61 }, 'CLOCK_SKEW'),
    { why: 'a nonce that was used', request: good, nonceUsed: true, expect: 'REPLAY' },
    {
      ...inner(
        'a used nonce, 61 seconds behind: the clock is judged first',
        { ...goodRequest, timestamp: now - 61 },
        'CLOCK_SKEW',
      ),
      nonceUsed: true,
    },
    {
      ...inner('a used nonce and no license key: the nonce is judged first', withoutKey, 'REPLAY'),
      nonceUsed: true,
    },
  ];
}

function rests(): RequestVector[] {
  const malformed = 'sealed VALIDATION_FAILED';
  const { hwid: _hwid, ...withoutHwid } = goodRequest;
  const { echoNonce: _echo, ...withoutEcho } = goodRequest;
  return [
    inner('no hwid', withoutHwid, 'accept'),
    inner('no echo asked for', withoutEcho, 'accept'),
    inner('an unknown inner member', { ...goodRequest, later: { is: 'ignored' } }, 'accept'),
    ...labelCases.map(({ why, change }) => inner(why, { ...goodRequest, ...change }, 'accept')),
    inner('no license key', withoutKey, malformed),
    inner('an empty license key', { ...goodRequest, licenseKey: '' }, malformed),
    inner('a license key of 256 characters', { ...goodRequest, licenseKey: 'K'.repeat(256) }, 'accept'),
    inner('a license key of 257 characters', { ...goodRequest, licenseKey: 'K'.repeat(257) }, malformed),
    inner('a license key with NUL', { ...goodRequest, licenseKey: 'A\0B' }, malformed),
    inner('a license key with a lone surrogate', { ...goodRequest, licenseKey: 'A\ud800B' }, malformed),
    inner('the license key is a number', { ...goodRequest, licenseKey: 1 }, malformed),
    inner('hwid null', { ...goodRequest, hwid: null }, malformed),
    inner('a hwid with NUL', { ...goodRequest, hwid: '\0' }, malformed),
  ];
}
