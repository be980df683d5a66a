import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { decodeBase64Url, encodeBase64Url } from '../../../protocol/base64.ts';
import { concatBytes, utf8 } from '../../../protocol/bytes.ts';
import { canonicalJson } from '../../../protocol/canonical-json.ts';
import { signBytes } from '../../../protocol/signature.ts';
import { deviceHash } from '../../../protocol/v2/device-hash.ts';
import type { LeaseStep } from '../../../protocol/v2/lease.ts';
import { padded } from '../../../protocol/v2/message.ts';
import { leaseHeader, revocationsHeader } from '../../../protocol/v2/signed-token.ts';
import { appId, now, publicKey } from '../exchange.ts';
import { fixedBytes } from '../material.ts';
import { addGroupOrder, smallOrderKeys } from '../signature.ts';
import { callExchange, signedFor } from './exchange.ts';
import { goodClaims, lease, leaseOf, signedPart, tokenOf } from './lease.ts';

/** What the reader of a lease knows, where it is not what `reader` says. */
interface Reader {
  readonly time?: number;
  /** The highest `seq` and `rev` that it has accepted. */
  readonly seen?: { readonly seq: number; readonly rev: number };
  /** The nonce of its device request. */
  readonly nonce?: string;
  readonly publicKeyHex?: string;
}

const otherAppId = '01890a5d-ac96-774b-bcce-b302099a8058';
const end = goodClaims.exp;
const nonce = encodeBase64Url(fixedBytes('device request nonce', 16));
const otherNonce = encodeBase64Url(fixedBytes('other device request nonce', 16));

/** SPEC §14: leases, with the check at which a client refuses. */
export function leaseVectors() {
  return {
    reader: { hwid: 'device-1', dev: goodClaims.dev, time: now + 60, nonce: null, seen: null },
    accept: accepted(),
    reject: [...forged(), ...encodings(), ...texts(), ...shapes(), ...bindings()],
  };
}

function accepted() {
  const is = (why: string, change: object = {}, reader: Reader = {}) => ({
    why,
    json: JSON.stringify({ ...goodClaims, ...change }),
    lease: leaseOf({ ...goodClaims, ...change }),
    ...reader,
  });
  const seen = { seq: goodClaims.seq, rev: goodClaims.rev };
  return [
    is('good'),
    is('a license that never ends', { lex: null }),
    is('a term of 30 days', { exp: now + 30 * 86_400 }),
    is('entitlements', { ent: { 'export.pdf': true, seats: 5, channel: 'beta' } }),
    is('an unknown claim', { later: { is: 'ignored' } }),
    is('at its first second', {}, { time: now }),
    is('at its last second', {}, { time: end - 1 }),
    is('the lease that was seen before', {}, { seen }),
    is('a higher seq', { seq: 6 }, { seen }),
    is('a higher rev', { rev: 4 }, { seen }),
    is('the answer to a device request', { non: nonce }, { nonce }),
    is('the answer to a device request, read by a device that has not asked', { non: nonce }),
  ];
}

const refuse = (failed: LeaseStep, why: string, text: string, reader: Reader = {}) => ({
  why,
  lease: text,
  failed,
  ...reader,
});

const json = JSON.stringify(goodClaims);
const [, payload = '', signatureText = ''] = lease.split('.');
const signature = decodeBase64Url(signatureText) ?? new Uint8Array();
const withSignature = (bytes: Uint8Array) => `${signedPart(leaseHeader, json)}.${encodeBase64Url(bytes)}`;

function forged() {
  const header = (why: string, text: string) => refuse('header', why, tokenOf(text, json));
  const hs256 = signedPart('{"alg":"HS256","typ":"latchkey-lease+jwt"}', json);
  const macOf = (text: string) => encodeBase64Url(hmac(sha256, publicKey, utf8(text)));
  const jwk = `{"kty":"OKP","crv":"Ed25519","x":"${encodeBase64Url(publicKey)}"}`;
  const [identity] = smallOrderKeys;
  const signed = signedPart(leaseHeader, json);
  const signing = (why: string, text: Uint8Array) =>
    refuse('signature', why, withSignature(signBytes(text, fixedBytes('application seed', 32))));
  return [
    refuse(
      'header',
      'alg none, without a signature',
      `${signedPart('{"alg":"none","typ":"latchkey-lease+jwt"}', json)}.`,
    ),
    header('alg none, signed', '{"alg":"none","typ":"latchkey-lease+jwt"}'),
    refuse('header', 'HS256 under the public key', `${hs256}.${macOf(hs256)}`),
    header('alg in lower case', '{"alg":"eddsa","typ":"latchkey-lease+jwt"}'),
    header('alg Ed25519', '{"alg":"Ed25519","typ":"latchkey-lease+jwt"}'),
    header('a reordered header', '{"typ":"latchkey-lease+jwt","alg":"EdDSA"}'),
    header('a header with a space', '{"alg":"EdDSA", "typ":"latchkey-lease+jwt"}'),
    header('a header with a key id', '{"alg":"EdDSA","typ":"latchkey-lease+jwt","kid":"1"}'),
    header('a header with a key of its own', `{"alg":"EdDSA","typ":"latchkey-lease+jwt","jwk":${jwk}}`),
    header('a header without typ', '{"alg":"EdDSA"}'),
    header('typ JWT', '{"alg":"EdDSA","typ":"JWT"}'),
    header('the header of a revocation list', revocationsHeader),
    refuse('header', 'no text', ''),
    refuse('signature', 'signed with another key', tokenOf(leaseHeader, json, fixedBytes('other seed', 32))),
    refuse(
      'signature',
      'another payload than was signed',
      `${signedPart(leaseHeader, json.replace('"tier":2', '"tier":9'))}.${signatureText}`,
    ),
    refuse(
      'signature',
      'the signature of another lease',
      `${signed}.${leaseOf({ ...goodClaims, seq: 6 }).split('.')[2]}`,
    ),
    refuse(
      'signature',
      'S plus the group order',
      withSignature(concatBytes(signature.subarray(0, 32), addGroupOrder(signature.subarray(32)))),
    ),
    refuse('signature', 'no payload', `${signed.split('.')[0]}..${signatureText}`),
    signing('signed as in version 1: canonical JSON', utf8(canonicalJson({ ...goodClaims, ent: {} }))),
    signing('signed as an answer', signedFor(callExchange('lease'), padded(json))),
    signing('signed without the header', utf8(payload)),
    refuse(
      'signature',
      'an application key of small order, under which R the identity and S zero fit',
      withSignature(concatBytes(Uint8Array.of(1), new Uint8Array(63))),
      { publicKeyHex: identity?.hex ?? '' },
    ),
  ];
}

function encodings() {
  const signed = signedPart(leaseHeader, json);
  // The last character of a signature has 4 bits that no byte uses.
  const loose = `${lease.slice(0, -1)}${String.fromCharCode(lease.charCodeAt(lease.length - 1) + 1)}`;
  return [
    refuse('length', '32,769 characters', lease.padEnd(32_769, 'A')),
    refuse('encoding', 'two parts', signed),
    refuse('encoding', 'four parts', `${lease}.${signatureText}`),
    refuse('encoding', 'an empty signature', `${signed}.`),
    refuse('encoding', 'a signature of 63 bytes', withSignature(signature.subarray(0, 63))),
    refuse('encoding', 'a signature of 65 bytes', withSignature(concatBytes(signature, Uint8Array.of(0)))),
    refuse('encoding', 'base64 with padding', `${lease}==`),
    refuse('encoding', 'a line feed at the end', `${lease}\n`),
    refuse('encoding', 'unused bits that are set', loose),
    refuse('encoding', 'a character of the standard alphabet', `${signed}.+${signatureText.slice(1)}`),
    refuse('header', 'a space before', ` ${lease}`),
  ];
}

function texts() {
  const text = (why: string, changed: string | Uint8Array) =>
    refuse('json', `signed: ${why}`, tokenOf(leaseHeader, changed));
  return [
    text('a name twice, the last one good', json.replace('"exp"', '"exp":1,"exp"')),
    text('a name twice, the first one good', json.replace(/\}$/, `,"exp":${end + 86_400}}`)),
    text('a byte order mark', `\ufeff${json}`),
    text('a tier with an exponent', json.replace('"tier":2', '"tier":2e0')),
    text('a time with a fraction', json.replace(`"exp":${end}`, `"exp":${end}.5`)),
    text(
      'a byte that no UTF-8 has',
      concatBytes(utf8('{"later":"'), Uint8Array.of(0xff), utf8(`",${json.slice(1)}`)),
    ),
    text('a text behind the object', `${json}{}`),
    text('not JSON', 'lease'),
  ];
}

function shapes() {
  const changed = (why: string, change: object) =>
    refuse('claims', `signed: ${why}`, leaseOf({ ...goodClaims, ...change }));
  return [
    ...Object.keys(goodClaims).map((name) => changed(`no ${name}`, { [name]: undefined })),
    refuse('claims', 'signed: an array', tokenOf(leaseHeader, `[${json}]`)),
    changed('a term of 30 days and a second', { exp: now + 30 * 86_400 + 1 }),
    changed('an end at its start', { exp: now }),
    changed('an end before its start', { exp: now - 1 }),
    changed('the end as a text', { exp: String(end) }),
    changed('exp null', { exp: null }),
    changed('a negative seq', { seq: -1 }),
    changed('rev as a text', { rev: '3' }),
    changed('a negative tier', { tier: -1 }),
    changed('the application as a list', { aud: [appId] }),
    changed('a device of 31 bytes', { dev: encodeBase64Url(fixedBytes('device', 31)) }),
    changed('the HWID in place of its hash', { dev: 'device-1' }),
    changed('a nonce of 15 bytes', { non: encodeBase64Url(fixedBytes('nonce', 15)) }),
  ];
}

function bindings() {
  const changed = (failed: LeaseStep, why: string, change: object, reader: Reader = {}) =>
    refuse(failed, why, leaseOf({ ...goodClaims, ...change }), reader);
  const seen = { seq: goodClaims.seq, rev: goodClaims.rev };
  return [
    changed('aud', 'another application', { aud: otherAppId }),
    changed('dev', 'another device', { dev: deviceHash(appId, 'device-2') }),
    changed('dev', 'this device in another application', { dev: deviceHash(otherAppId, 'device-1') }),
    changed('aud', 'another application and another device', {
      aud: otherAppId,
      dev: deviceHash(appId, 'device-2'),
    }),
    changed('non', 'the answer to another device request', { non: otherNonce }, { nonce }),
    changed('non', 'no nonce, to a device that has asked', {}, { nonce }),
    changed('nbf', 'a second before its start', {}, { time: now - 1 }),
    changed('nbf', 'it starts later than it was issued', { nbf: now + 61 }),
    changed('exp', 'at its end', {}, { time: end }),
    changed('exp', 'long after its end', {}, { time: end + 86_400 * 365 }),
    changed('seq', 'a lower seq', { seq: goodClaims.seq - 1 }, { seen }),
    changed('rev', 'a lower rev', { rev: goodClaims.rev - 1 }, { seen }),
    changed('seq', 'a lower seq and a lower rev', { seq: 1, rev: 1 }, { seen }),
    changed('exp', 'past its end with a lower seq', { seq: 1 }, { seen, time: end }),
  ];
}
