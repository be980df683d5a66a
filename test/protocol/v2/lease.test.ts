import { createHash, createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../../src/protocol/canonical-json.ts';
import { getPublicKey, signBytes } from '../../../src/protocol/signature.ts';
import { deviceHash } from '../../../src/protocol/v2/device-hash.ts';
import { deviceRequestText, readDeviceRequest } from '../../../src/protocol/v2/device-request.ts';
import { readStatement, signedStatement } from '../../../src/protocol/v2/key-statement.ts';
import {
  type LeaseClaims,
  type LeaseExpectations,
  type LeaseStep,
  readLease,
} from '../../../src/protocol/v2/lease.ts';
import { padded, signedAnswer } from '../../../src/protocol/v2/message.ts';
import { readRevocations, revokes, shortLicenseId } from '../../../src/protocol/v2/revocations.ts';
import { leaseHeader, revocationsHeader } from '../../../src/protocol/v2/signed-token.ts';

const appId = '01890a5d-ac96-774b-bcce-b302099a8057';
const otherAppId = '01890a5d-ac96-774b-bcce-b302099a8058';
const licenseId = '01890a5d-ac96-774b-a1b2-c3d4e5f60718';
const seed = new Uint8Array(32).fill(5);
const publicKey = getPublicKey(seed);
const device = deviceHash(appId, 'device-1');
const nonce = Buffer.alloc(16, 7).toString('base64url');
const iat = 1_760_000_000;
const day = 86_400;

const claims: LeaseClaims = {
  aud: appId,
  sub: licenseId,
  jti: '01890a5d-ac96-774b-bcce-b302099a8059',
  iat,
  nbf: iat,
  exp: iat + 7 * day,
  lex: null,
  dev: device,
  tier: 2,
  ent: {},
  rev: 5,
  seq: 9,
};

const base64Url = (bytes: string | Uint8Array) => Buffer.from(bytes).toString('base64url');

/** A token as any JWT library writes it. */
function token(payload: string, { header = leaseHeader as string, key = seed } = {}): string {
  const signed = `${base64Url(header)}.${base64Url(payload)}`;
  return `${signed}.${base64Url(signBytes(Buffer.from(signed), key))}`;
}
const lease = (changes: Record<string, unknown> = {}) => token(JSON.stringify({ ...claims, ...changes }));

function read(text: string, expected: Partial<LeaseExpectations> = {}) {
  return readLease(text, { appId, publicKey, device, time: iat + 60, ...expected });
}
const failure = (text: string, expected: Partial<LeaseExpectations> = {}) => {
  const result = read(text, expected);
  return result.ok ? 'accepted' : result.failed;
};

describe('a lease', () => {
  test('gives its claims', () => {
    expect(read(lease())).toEqual({ ok: true, claims });
    expect(
      read(
        lease({
          non: nonce,
          lex: iat + 8 * day,
          ent: { 'export.pdf': true, seats: 5, channel: 'beta' },
          more: 'ignored',
        }),
        { nonce },
      ),
    ).toEqual({
      ok: true,
      claims: {
        ...claims,
        non: nonce,
        lex: iat + 8 * day,
        ent: { 'export.pdf': true, seats: 5, channel: 'beta' },
      },
    });
  });

  test('is valid from its start until its end', () => {
    expect(failure(lease(), { time: iat - 1 })).toBe('nbf');
    expect(failure(lease(), { time: iat })).toBe('accepted');
    expect(failure(lease(), { time: claims.exp - 1 })).toBe('accepted');
    expect(failure(lease(), { time: claims.exp })).toBe('exp');
    expect(failure(lease(), { time: Number.NaN })).toBe('nbf');
  });

  test('is refused if a later one was accepted before', () => {
    expect(failure(lease(), { seen: { seq: 9, rev: 5 } })).toBe('accepted');
    expect(failure(lease(), { seen: { seq: 10, rev: 5 } })).toBe('seq');
    expect(failure(lease(), { seen: { seq: 9, rev: 6 } })).toBe('rev');
  });

  test('answers one device request', () => {
    const other = Buffer.alloc(16, 8).toString('base64url');
    expect(failure(lease({ non: nonce }), { nonce: other })).toBe('non');
    expect(failure(lease(), { nonce })).toBe('non');
    expect(failure(lease({ non: nonce }))).toBe('accepted');
  });

  const [header = '', payload = '', signature = ''] = lease().split('.');
  const hmac = (text: string) => createHmac('sha256', publicKey).update(text).digest('base64url');
  const hs256 = `${base64Url('{"alg":"HS256","typ":"latchkey-lease+jwt"}')}.${payload}`;
  const spelling = (text: string) => token(text);
  const json = JSON.stringify(claims);
  /** Another spelling of the same bytes: the last character of a signature has 4 unused bits. */
  const loose = signature.slice(0, -1) + String.fromCharCode(signature.charCodeAt(85) + 1);

  test.each<[string, LeaseStep, string]>([
    ['32,769 characters', 'length', `${lease()}${'A'.repeat(32_768)}`],
    [
      'alg none without a signature',
      'header',
      `${base64Url('{"alg":"none","typ":"latchkey-lease+jwt"}')}.${payload}.`,
    ],
    ['alg none, signed', 'header', token(json, { header: '{"alg":"none","typ":"latchkey-lease+jwt"}' })],
    ['HS256 under the public key', 'header', `${hs256}.${hmac(hs256)}`],
    [
      'HMAC under the public key behind the right header',
      'encoding',
      `${header}.${payload}.${hmac(`${header}.${payload}`)}`,
    ],
    ['a reordered header', 'header', token(json, { header: '{"typ":"latchkey-lease+jwt","alg":"EdDSA"}' })],
    [
      'a header with a space',
      'header',
      token(json, { header: '{"alg":"EdDSA", "typ":"latchkey-lease+jwt"}' }),
    ],
    [
      'a header with a key of its own',
      'header',
      token(json, { header: '{"alg":"EdDSA","typ":"latchkey-lease+jwt","kid":"1"}' }),
    ],
    ['the header of a revocation list', 'header', token(json, { header: revocationsHeader })],
    ['two parts', 'encoding', `${header}.${payload}`],
    ['four parts', 'encoding', `${lease()}.${signature}`],
    ['padding', 'encoding', `${header}.${payload}.${signature}==`],
    ['a line feed at the end', 'encoding', `${lease()}\n`],
    ['unused bits that are set', 'encoding', `${header}.${payload}.${loose}`],
    ['no payload', 'signature', `${header}..${signature}`],
    ['another signing key', 'signature', token(json, { key: new Uint8Array(32).fill(6) })],
    ['a repeated name', 'json', spelling(`${json.slice(0, -1)},"exp":${iat + 30 * day}}`)],
    ['a byte order mark', 'json', spelling(`\uFEFF${json}`)],
    ['a number with an exponent', 'json', spelling(json.replace('"tier":2', '"tier":2e0'))],
    ['no object', 'claims', spelling('[]')],
    ['a term of more than 30 days', 'claims', lease({ exp: iat + 30 * day + 1 })],
    ['an end at its start', 'claims', lease({ exp: iat })],
    ['a tier that is a text', 'claims', lease({ tier: '2' })],
    ['no seq', 'claims', lease({ seq: undefined })],
    ['another application', 'aud', lease({ aud: otherAppId })],
    ['another device', 'dev', lease({ dev: deviceHash(appId, 'device-2') })],
  ])('with %s is refused at: %s', (_what, step, text) => {
    expect(failure(text)).toBe(step);
  });

  test('with S plus the group order is refused', () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const bytes = Buffer.from(signature, 'base64url');
    const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order;
    bytes.set(Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse(), 32);
    expect(failure(`${header}.${payload}.${bytes.toString('base64url')}`)).toBe('signature');
  });

  test('under a key of small order is refused', () => {
    const identity = new Uint8Array(32).fill(1, 0, 1);
    const anyMessage = Buffer.concat([identity, Buffer.alloc(32)]).toString('base64url');
    expect(failure(`${header}.${payload}.${anyMessage}`, { publicKey: identity })).toBe('signature');
  });

  test('with any flipped bit is refused', () => {
    const text = Buffer.from(lease());
    for (let bit = 0; bit < text.length * 8; bit += 11) {
      const changed = Buffer.from(text);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(failure(changed.toString('latin1')), `bit ${bit}`).not.toBe('accepted');
    }
  });
});

describe('a signature for something else', () => {
  const [header = '', payload = ''] = lease().split('.');
  const signedText = `${header}.${payload}`;
  const hash = new Uint8Array(32);

  test.each<[string, Uint8Array]>([
    ['a result of version 1', signBytes(Buffer.from(canonicalJson({ ...claims, ent: {} })), seed)],
    ['an answer of version 2', signBytes(signedAnswer(appId, hash, padded(JSON.stringify(claims))), seed)],
    [
      'an answer of version 2 that contains the lease',
      signBytes(signedAnswer(appId, hash, Buffer.from(signedText)), seed),
    ],
    ['a key statement', signBytes(signedStatement(appId, Buffer.from(signedText)), seed)],
  ])('does not fit a lease: %s', (_what, signature) => {
    expect(failure(`${signedText}.${base64Url(signature)}`)).toBe('signature');
  });

  test('of a lease fits no key statement', () => {
    const body = Buffer.alloc(57);
    const statement = Buffer.concat([signBytes(Buffer.from(signedText), seed), body]);
    expect(readStatement(statement, appId, publicKey)).toBeNull();
    // What a lease's signature covers begins with `e`, and every other signed text with a tag or `{`.
    expect(signedText[0]).toBe('e');
  });
});

describe('a revocation list', () => {
  const list = (changes: Record<string, unknown> = {}, header: string = revocationsHeader) =>
    token(JSON.stringify({ aud: appId, iat, exp: iat + day, rev: 8, revoked: {}, ...changes }), { header });
  const readList = (text: string, seenRev?: number, time = iat) => {
    const result = readRevocations(text, { appId, publicKey, time, seenRev });
    return result.ok ? result.claims : result.failed;
  };

  test('names a license by the last 8 bytes of its id', () => {
    expect(Buffer.from(shortLicenseId(licenseId), 'base64url').toString('hex')).toBe('a1b2c3d4e5f60718');
  });

  test('revokes the leases that were issued before the license was revoked', () => {
    const revoked = { [shortLicenseId(licenseId)]: 6 };
    const read = readList(list({ revoked }));
    if (typeof read === 'string') return expect.fail(read);
    expect(revokes(read, { sub: licenseId, rev: 5 })).toBe(true);
    expect(revokes(read, { sub: licenseId, rev: 6 })).toBe(false);
    expect(revokes(read, { sub: otherAppId, rev: 5 })).toBe(false);
  });

  test('is refused if it is for another application, outdated, or no list', () => {
    expect(readList(list({ aud: otherAppId }))).toBe('aud');
    expect(readList(list(), 8)).toMatchObject({ rev: 8 });
    expect(readList(list(), 9)).toBe('rev');
    expect(readList(list(), 8, iat + day)).toBe('exp');
    expect(readList(list({ revoked: { short: 1 } }))).toBe('claims');
    expect(readList(list({}, leaseHeader))).toBe('header');
    expect(readList(lease())).toBe('header');
  });
});

describe('a device request', () => {
  const request = { appId, device, nonce };

  test('is 91 characters and gives its parts', () => {
    const text = deviceRequestText(request);
    expect(text).toMatch(/^LKQ2\.[\w-]{86}$/);
    expect(readDeviceRequest(text)).toEqual(request);
  });

  test('has one spelling', () => {
    const text = deviceRequestText(request);
    const other = [
      text.slice(1),
      text.slice(0, -1),
      `${text}A`,
      `${text}\n`,
      ` ${text}`,
      text.toLowerCase(),
      text.replace('LKQ2', 'LKQ1'),
      // 64 bytes take 86 characters, so the last one has 4 unused bits.
      text.slice(0, -1) + String.fromCharCode(text.charCodeAt(90) + 1),
    ];
    for (const wrong of other) expect(readDeviceRequest(wrong), wrong).toBeNull();
  });

  test('is not composed of parts of another length', () => {
    expect(() => deviceRequestText({ ...request, device: nonce })).toThrow(RangeError);
    expect(() => deviceRequestText({ ...request, nonce: device })).toThrow(RangeError);
    expect(() => deviceRequestText({ ...request, appId: 'x' })).toThrow(RangeError);
  });
});

test('a device hash is that of the label, the application and the HWID', () => {
  const expected = createHash('sha256').update(`latchkey-device\0${appId}device-1`).digest('base64url');
  expect(device).toBe(expected);
  expect(deviceHash(otherAppId, 'device-1')).not.toBe(device);
  expect(() => deviceHash(appId.toUpperCase(), 'device-1')).toThrow(RangeError);
});
