import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { concatBytes, utf8 } from '../../../protocol/bytes.ts';
import { padded, requestBytes, requestInfo } from '../../../protocol/v2/message.ts';
import type { CallName } from '../../../protocol/v2/messages.ts';
import { appId, now } from '../exchange.ts';
import { flipBit } from '../material.ts';
import { callNames, goodRequest } from './calls.ts';
import { deriveSteps } from './derivation.ts';
import { callExchange, exchangeOf } from './exchange.ts';
import { requestShapes } from './request-shapes.ts';
import { newerKey, serviceKey } from './service.ts';

export interface RequestVector {
  readonly why: string;
  readonly bodyHex: string;
  /** `accept`, an unsigned error such as `plaintext KEY_UNKNOWN`, or a signed one such as `signed REPLAY` (SPEC §11). */
  readonly expect: string;
  /** True if the server has accepted a request with the same encapsulated key before. */
  readonly encapsulatedKeyUsed?: true;
}

const malformed = 'plaintext MALFORMED';
const keyUnknown = 'plaintext KEY_UNKNOWN';
const appNotFound = 'plaintext APP_NOT_FOUND';
const failed = 'signed VALIDATION_FAILED';

/** Requests, with the server's result. */
export function requestVectors(): RequestVector[] {
  return [...sizes(), ...keys(), ...smallOrder(), ...applications(), ...heads(), ...members()];
}

const sealed = (why: string, plaintext: Uint8Array, expect: string): RequestVector => ({
  why,
  bodyHex: bytesToHex(exchangeOf(`request ${why}`, plaintext).body),
  expect,
});

const text = (why: string, json: string, expect: string) => sealed(why, padded(json), expect);

const changed = (why: string, change: object, expect: string, call: CallName = 'validate') =>
  text(`${call}: ${why}`, JSON.stringify({ ...goodRequest(call), ...change }), expect);

const { body: goodBody, plaintext: goodPlaintext } = callExchange('validate');

function sizes(): RequestVector[] {
  const is = (why: string, body: Uint8Array, expect: string) => ({ why, bodyHex: bytesToHex(body), expect });
  const json = JSON.stringify(goodRequest('validate'));
  return [
    ...callNames.map((call) => is(`${call}: good`, callExchange(call).body, 'accept')),
    sealed('without padding', utf8(json), 'accept'),
    text('white space, and the members in another order', JSON.stringify(reversed(), null, 2), 'accept'),
    text('an escape', json.replace('device', 'd\\u0065vice'), 'accept'),
    sealed('16,384 bytes', utf8(json.padEnd(16_384 - 55)), 'accept'),
    is('16,385 bytes', concatBytes(goodBody, new Uint8Array(16_385 - goodBody.length)), malformed),
    is('no bytes', new Uint8Array(), malformed),
    is('54 bytes: one fewer than a request with an empty plaintext', goodBody.subarray(0, 54), malformed),
    is('JSON in plaintext, shorter than 55 bytes', utf8('{"v":2,"call":"validate"}'), malformed),
    is('JSON in plaintext', utf8(json), keyUnknown),
  ];
}

const reversed = () => Object.fromEntries(Object.entries(goodRequest('validate')).reverse());

function keys(): RequestVector[] {
  const flipped = (why: string, bit: number) => ({
    why,
    bodyHex: bytesToHex(flipBit(goodBody, bit)),
    expect: keyUnknown,
  });
  const is = (why: string, body: Uint8Array) => ({ why, bodyHex: bytesToHex(body), expect: keyUnknown });
  return [
    flipped('a bit of the key id is flipped', 0),
    flipped('another KEM', 2 * 8),
    flipped('another KDF', 4 * 8),
    flipped('another AEAD', 6 * 8 + 1),
    flipped('the first byte of the suite is not zero', 8),
    is(
      'encrypted to a key that the server does not have',
      exchangeOf('other key', goodPlaintext, newerKey).body,
    ),
    is(
      'encrypted to another key under an id that the server has',
      exchangeOf('wrong key', goodPlaintext, { ...newerKey, keyId: serviceKey.keyId }).body,
    ),
    flipped('a bit of the encapsulated key is flipped', 8 * 8 + 1),
    flipped('a bit of the ciphertext is flipped', 60 * 8 + 1),
    flipped('a bit of the tag is flipped', (goodBody.length - 1) * 8),
    is('cut by a byte', goodBody.subarray(0, -1)),
    is('cut to 55 bytes', goodBody.subarray(0, 55)),
    is('a byte too many', concatBytes(goodBody, Uint8Array.of(0))),
    is('encrypted with the info of answers', withInfo('application/vnd.latchkey.v2 response\0')),
    is('encrypted with the info of Oblivious HTTP', withInfo('message/bhttp request\0')),
    is('encrypted with the info without its header', withInfo(null)),
  ];
}

/** The good request, encrypted with an info that begins otherwise, or that ends before the header. */
function withInfo(label: string | null): Uint8Array {
  const { encapsulatedKey, sharedPoint } = callExchange('validate');
  const header = goodBody.subarray(0, 7);
  const info =
    label === null ? requestInfo(serviceKey.keyId).subarray(0, -7) : concatBytes(utf8(label), header);
  const { seal } = deriveSteps({ sharedPoint, encapsulatedKey, recipientKey: serviceKey.publicKey, info });
  return requestBytes({ keyId: serviceKey.keyId, encapsulatedKey, ciphertext: seal(goodPlaintext) });
}

/** Every encoding of a point of small order on Curve25519 and its twist, of 32 bytes (SPEC §4). */
const smallOrderPoints = [
  { why: 'zero', hex: '00'.repeat(32) },
  { why: 'one', hex: `01${'00'.repeat(31)}` },
  { why: 'order 8', hex: 'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800' },
  { why: 'order 8, another', hex: '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157' },
  { why: 'p - 1', hex: `ec${'ff'.repeat(30)}7f` },
  { why: 'p, which is zero', hex: `ed${'ff'.repeat(30)}7f` },
  { why: 'p + 1, which is one', hex: `ee${'ff'.repeat(30)}7f` },
].flatMap(({ why, hex }) => [
  { why, hex },
  { why: `${why}, with the highest bit, which X25519 ignores`, hex: withHighestBit(hex) },
]);

function withHighestBit(hex: string): string {
  const bytes = hexToBytes(hex);
  return bytesToHex(flipBit(bytes, 255));
}

/** X25519 gives zero with these keys, so everyone can decrypt. The requests are encrypted under zero. */
function smallOrder(): RequestVector[] {
  return smallOrderPoints.map(({ why, hex }) => {
    const encapsulatedKey = hexToBytes(hex);
    const { seal } = deriveSteps({
      sharedPoint: new Uint8Array(32),
      encapsulatedKey,
      recipientKey: serviceKey.publicKey,
      info: requestInfo(serviceKey.keyId),
    });
    const ciphertext = seal(goodPlaintext);
    const body = requestBytes({ keyId: serviceKey.keyId, encapsulatedKey, ciphertext });
    return {
      why: `an encapsulated key of small order: ${why}`,
      bodyHex: bytesToHex(body),
      expect: keyUnknown,
    };
  });
}

function applications(): RequestVector[] {
  const json = JSON.stringify(goodRequest('validate'));
  const [before = '', after = ''] = json.split('device-1');
  const inHwid = (why: string, ...bytes: number[]) =>
    sealed(why, concatBytes(utf8(before), Uint8Array.from(bytes), utf8(after)), appNotFound);
  const is = (why: string, changedJson: string) => text(why, changedJson, appNotFound);
  return [
    changed(
      'an application that the server does not have',
      { app: '01890a5d-ac96-774b-bcce-b302099a8058' },
      appNotFound,
    ),
    changed('no application', { app: undefined }, appNotFound),
    changed('the application in upper case', { app: appId.toUpperCase() }, appNotFound),
    changed('the application as a number', { app: 1 }, appNotFound),
    sealed('an empty plaintext', new Uint8Array(), appNotFound),
    is('not JSON', 'licenseKey=AAAAA'),
    is('an array', `[${json}]`),
    is('null', 'null'),
    is('a name twice', json.replace('"hwid"', '"hwid":"device-2","hwid"')),
    is('the application twice', json.replace('"app"', `"app":"${appId}","app"`)),
    is('a name twice in an unknown member', json.replace('{', '{"later":{"a":1,"a":1},')),
    is('NUL in a text', json.replace('device-1', '\\u0000')),
    is('a lone surrogate in a text', json.replace('device-1', '\\ud800')),
    is('a time with a fraction', json.replace(/"time":\d+/, '$&.5')),
    is('an unknown member 65 deep', json.replace('{', `{"later":${'['.repeat(64)}${']'.repeat(64)},`)),
    is('a text behind the object', `${json}{}`),
    sealed('a byte order mark', utf8(`\ufeff${json}`), appNotFound),
    sealed('padded with zero bytes', concatBytes(utf8(json), new Uint8Array(3)), appNotFound),
    inHwid('a byte that no UTF-8 has', 0xff),
    inHwid('an overlong slash', 0xc0, 0xaf),
    inHwid('a surrogate in UTF-8', 0xed, 0xa0, 0x80),
  ];
}

function heads(): RequestVector[] {
  const skewed = 'signed CLOCK_SKEW';
  const used = (vector: RequestVector): RequestVector => ({ ...vector, encapsulatedKeyUsed: true });
  return [
    changed('no version of the protocol', { v: undefined }, failed),
    changed('version 1 of the protocol', { v: 1 }, failed),
    changed('the version of the protocol as a text', { v: '2' }, failed),
    changed('no call', { call: undefined }, failed),
    changed('an empty call', { call: '' }, failed),
    changed('a call of 65 characters', { call: 'c'.repeat(65) }, failed),
    changed('no version of the program', { version: undefined }, failed),
    changed('an empty version of the program', { version: '' }, failed),
    changed('a version of the program of 64 characters', { version: '1'.repeat(64) }, 'accept'),
    changed('a version of the program of 65 characters', { version: '1'.repeat(65) }, failed),
    changed('no time', { time: undefined }, failed),
    changed('the time as a text', { time: String(now) }, failed),
    changed('a negative time', { time: -1 }, failed),
    changed('the time in milliseconds', { time: now * 1000 }, skewed),
    changed('60 seconds behind', { time: now - 60 }, 'accept'),
    changed('60 seconds ahead', { time: now + 60 }, 'accept'),
    changed('61 seconds behind', { time: now - 61 }, skewed),
    changed('61 seconds ahead', { time: now + 61 }, skewed),
    changed(
      '61 seconds behind and no license key: the clock is judged first',
      { time: now - 61, licenseKey: undefined },
      skewed,
    ),
    changed(
      'version 1 of the protocol, 61 seconds behind: the head is judged first',
      { time: now - 61, v: 1 },
      failed,
    ),
    used(changed('a used encapsulated key', {}, 'signed REPLAY')),
    used(
      changed(
        'a used encapsulated key, 61 seconds behind: the clock is judged first',
        { time: now - 61 },
        skewed,
      ),
    ),
    used(
      changed(
        'a used encapsulated key and no license key: the replay is judged first',
        { licenseKey: undefined },
        'signed REPLAY',
      ),
    ),
    used(
      changed(
        'a used encapsulated key and another application',
        { app: '01890a5d-ac96-774b-bcce-b302099a8058' },
        appNotFound,
      ),
    ),
    changed('an unknown call', { call: 'devices.rename' }, failed),
    changed('the call in upper case', { call: 'VALIDATE' }, failed),
    changed('a call that is a name of every object', { call: 'constructor' }, failed),
  ];
}

const members = (): RequestVector[] =>
  callNames.flatMap((call) =>
    requestShapes(call).map(({ why, change, valid }) =>
      changed(why, change, valid ? 'accept' : failed, call),
    ),
  );
