import { bytesToHex } from '@noble/hashes/utils.js';
import { concatBytes, utf8 } from '../../../protocol/bytes.ts';
import { signBytes } from '../../../protocol/signature.ts';
import { answerTag, keyTag } from '../../../protocol/v2/constants.ts';
import { padded, sealAnswer as sealBytes } from '../../../protocol/v2/message.ts';
import type { CallName } from '../../../protocol/v2/messages.ts';
import type { FailedCheck } from '../../../protocol/v2/read-answer.ts';
import { leaseHeader } from '../../../protocol/v2/signed-token.ts';
import { uuidBytes } from '../../../protocol/v2/uuid-bytes.ts';
import { appId, publicKey } from '../exchange.ts';
import { fixedBytes, flipBit } from '../material.ts';
import { addGroupOrder, smallOrderKeys } from '../signature.ts';
import { answerShapes } from './answer-shapes.ts';
import { callNames, goodAnswer, refusal } from './calls.ts';
import { type AnswerParts, callExchange, exchangeOf, sealAnswer, signedFor } from './exchange.ts';
import { tokenOf } from './lease.ts';
import { newerKey, serviceKey, statementOf } from './service.ts';

export interface AnswerVector {
  readonly why: string;
  readonly answerHex: string;
  /** `valid` and `refused` are answers; of `no answer`, `failed` names the check (SPEC §9). */
  readonly expect: 'valid' | 'refused' | 'no answer';
  readonly failed?: FailedCheck;
  /** Of an answer with `keys`: whether a client with the statement of `service` holds the new one afterwards. */
  readonly learns?: boolean;
  /** Of an answer with a `lease` that the case is about: whether the client stores it. */
  readonly stores?: boolean;
  /** The application's key, where it is another than in `application`. */
  readonly publicKeyHex?: string;
}

/** Answers to the good request of a call. */
export function answerVectors(call: CallName): AnswerVector[] {
  const { accepted, texts } = answerCases(call);
  return [
    ...accepted,
    ...openings(call),
    ...signatures(call),
    ...texts,
    ...bindings(call),
    ...answerShapes(call).map(({ why, members, expect, ...effects }) =>
      expect === 'no answer'
        ? refuse(call, why, 'members', JSON.stringify(members))
        : { ...accept(call, why, JSON.stringify(members), expect), ...effects },
    ),
  ];
}

const sealed = (call: CallName, why: string, parts: AnswerParts): string =>
  bytesToHex(sealAnswer(`${call} ${why}`, callExchange(call), parts));

const accept = (
  call: CallName,
  why: string,
  json: string | Uint8Array,
  expect: 'valid' | 'refused' = 'valid',
): AnswerVector => ({ why, answerHex: sealed(call, why, { payload: bytesOf(json) }), expect });

const refuse = (
  call: CallName,
  why: string,
  failed: FailedCheck,
  json: string | Uint8Array,
): AnswerVector => ({
  why,
  answerHex: sealed(call, why, { payload: bytesOf(json) }),
  expect: 'no answer',
  failed,
});

/** Texts are padded; bytes are the payload as they are. */
const bytesOf = (json: string | Uint8Array): Uint8Array => (typeof json === 'string' ? padded(json) : json);

function answerCases(call: CallName) {
  const good = goodAnswer(call);
  const text = JSON.stringify(good);
  const members = Object.entries(good);
  const accepted = [
    accept(call, 'good', text),
    accept(call, 'without padding', utf8(text)),
    accept(call, 'white space before and inside', utf8(` \r\n\t${JSON.stringify(good, null, 2)}`)),
    accept(call, 'the members in another order', JSON.stringify(Object.fromEntries(members.reverse()))),
    accept(call, 'a letter as an escape', text.replace('ü', '\\u00fc')),
    accept(call, 'an unknown member', JSON.stringify({ ...good, later: [{ is: 'ignored' }] })),
    accept(call, 'a time far from the own clock', JSON.stringify({ ...good, time: good.time + 86_400 })),
    accept(call, 'the name __proto__', text.replace('{', '{"__proto__":{"success":false},')),
    ...['BANNED', 'LATER_CODE', 'RATE_LIMITED', 'UNAVAILABLE', 'CLOCK_SKEW', 'REPLAY'].map((code) =>
      accept(call, `refused: ${code}`, JSON.stringify(refusal(call, code)), 'refused'),
    ),
    withKeys(call, 'a newer statement', base64(statementOf(newerKey)), true),
    {
      ...accept(call, 'refused with a newer statement', JSON.stringify(refusalWithKeys(call)), 'refused'),
      learns: true,
    },
    withKeys(call, 'an older statement', base64(statementOf(olderKey)), false),
    withKeys(call, 'a statement of another application', base64(foreignStatement()), false),
    withKeys(call, 'a statement that is no base64', '*', false),
    withKeys(call, 'an empty statement', '', false),
  ];
  const [before = '', after = ''] = text.split('tig"');
  const inMessage = (why: string, ...bytes: number[]) =>
    refuse(call, why, 'json', concatBytes(utf8(`${before}tig`), Uint8Array.from(bytes), utf8(`"${after}`)));
  const json = (why: string, changed: string | Uint8Array) => refuse(call, why, 'json', changed);
  const texts = [
    json('a name twice, the last one good', text.replace('"success"', '"success":false,"success"')),
    json('a name twice, the first one good', text.replace('"code":"OK"', '"code":"OK","code":"BANNED"')),
    json('a name twice, both good', text.replace('"code":"OK"', '"code":"OK","code":"OK"')),
    json(
      'a name twice, once with an escape',
      text.replace('"code":"OK"', '"c\\u006fde":"BANNED","code":"OK"'),
    ),
    json('a name twice in an unknown member', text.replace('{', '{"later":{"a":1,"a":1},')),
    json('a byte order mark', utf8(`\ufeff${text}`)),
    json('UTF-16', utf16(text)),
    inMessage('a byte that no UTF-8 has', 0xff),
    inMessage('UTF-8 that is cut short', 0xc3),
    inMessage('an overlong slash', 0xc0, 0xaf),
    inMessage('a surrogate in UTF-8', 0xed, 0xa0, 0x80),
    inMessage('a zero byte', 0x00),
    json('NUL as an escape', text.replace('ü', '\\u0000')),
    json('a lone surrogate as an escape', text.replace('ü', '\\ud800')),
    json('a text behind the object', `${text}{}`),
    json('a byte behind the padding', concatBytes(padded(text), utf8('x'))),
    json('padded with zero bytes', concatBytes(utf8(text), new Uint8Array(7))),
    json('a comma at the end', text.replace(/\}$/, ',}')),
    json('a comment', `${text}// good`),
    json('a time with a fraction', text.replace(/"time":(\d+)/, '"time":$1.0')),
    json('a time with an exponent', text.replace(/"time":\d+/, '"time":1e9')),
    json('an integer that readers round', text.replace('{', '{"later":9007199254740993,')),
    json('NaN', text.replace('{', '{"later":NaN,')),
    json('an unknown member 65 deep', text.replace('{', `{"later":${'['.repeat(64)}${']'.repeat(64)},`)),
    json('no text', new Uint8Array()),
    json('spaces alone', utf8(' '.repeat(256))),
  ];
  return { accepted, texts };
}

const withKeys = (call: CallName, why: string, keys: string, learns: boolean): AnswerVector => ({
  ...accept(call, why, JSON.stringify({ ...goodAnswer(call), keys })),
  learns,
});

const refusalWithKeys = (call: CallName) => ({
  ...refusal(call, 'CLOCK_SKEW'),
  keys: base64(statementOf(newerKey)),
});

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

const olderKey = { ...newerKey, notBefore: serviceKey.notBefore - 1 };

const otherAppId = '01890a5d-ac96-774b-bcce-b302099a8058';

/** Another application's statement, as the signature says. */
function foreignStatement(): Uint8Array {
  const body = statementOf(serviceKey).subarray(64);
  const signature = signBytes(concatBytes(keyTag, uuidBytes(otherAppId), body), fixedBytes('other seed', 32));
  return concatBytes(signature, body);
}

const utf16 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(`\ufeff${text}`, 'utf16le'));

function openings(call: CallName): AnswerVector[] {
  const exchange = callExchange(call);
  const payload = padded(JSON.stringify(goodAnswer(call)));
  const good = sealAnswer(`${call} good`, exchange, { payload });
  const is = (why: string, answer: Uint8Array): AnswerVector => ({
    why,
    answerHex: bytesToHex(answer),
    expect: 'no answer',
    failed: 'opening',
  });
  const parts = {
    signature: signBytes(signedFor(exchange, payload), fixedBytes('application seed', 32)),
    payload,
  };
  const nonce = fixedBytes(`${call} other secret`, 32);
  const other = exchangeOf(`${call} other`, exchange.plaintext);
  const otherCall = call === 'validate' ? 'lease' : 'validate';
  return [
    is('no bytes', new Uint8Array()),
    is('47 bytes: one fewer than nonce and tag', good.subarray(0, 47)),
    is('111 bytes: one fewer than nonce, signature and tag', good.subarray(0, 111)),
    is('cut by a byte', good.subarray(0, -1)),
    is('a byte too many', concatBytes(good, Uint8Array.of(0))),
    is('a bit of the nonce is flipped', flipBit(good, 5)),
    is('a bit of the encrypted signature is flipped', flipBit(good, 32 * 8 + 5)),
    is('a bit of the encrypted payload is flipped', flipBit(good, 100 * 8 + 1)),
    is('a bit of the tag is flipped', flipBit(good, (good.length - 1) * 8)),
    is('the answer to another request of the same text', sealAnswer(`${call} same text`, other, { payload })),
    is(
      'encrypted under the secret of another request',
      sealBytes({ ...exchange, context: other.context }, nonce, parts),
    ),
    is(
      'encrypted with the encapsulated key of another request',
      sealBytes({ ...exchange, encapsulatedKey: other.encapsulatedKey }, nonce, parts),
    ),
    is(
      'the answer to another call',
      sealAnswer(`${otherCall} good`, callExchange(otherCall), {
        payload: padded(JSON.stringify(goodAnswer(otherCall))),
      }),
    ),
    is('not encrypted', concatBytes(nonce, parts.signature, payload)),
    is('JSON in plaintext', utf8(JSON.stringify(goodAnswer(call)))),
  ];
}

function signatures(call: CallName): AnswerVector[] {
  const exchange = callExchange(call);
  const json = JSON.stringify(goodAnswer(call));
  const payload = padded(json);
  if (payload.length === utf8(json).length) throw new Error('The good answer needs padding for these cases');
  const app = uuidBytes(appId);
  const signed = signedFor(exchange, payload);
  const good = signBytes(signed, fixedBytes('application seed', 32));
  const other = exchangeOf(`${call} other`, exchange.plaintext);
  const is = (why: string, parts: Partial<AnswerParts>): AnswerVector => ({
    why,
    answerHex: sealed(call, why, { payload, ...parts }),
    expect: 'no answer',
    failed: 'signature',
  });
  const signing = (why: string, ...texts: Uint8Array[]) => is(why, { signed: concatBytes(...texts) });
  const hash = exchange.sha256;
  const [identity] = smallOrderKeys;
  return [
    signing('signed over the hash of another request', answerTag, app, other.sha256, payload),
    signing('signed over the plaintext in place of the hash', answerTag, app, exchange.plaintext, payload),
    signing('signed without the hash', answerTag, app, payload),
    signing('signed with the tag of statements', keyTag, app, hash, payload),
    signing('signed without the tag', app, hash, payload),
    signing('signed with the tag without its zero byte', utf8('latchkey-v2-ans'), app, hash, payload),
    signing('signed for another application', answerTag, uuidBytes(otherAppId), hash, payload),
    signing('signed with the text of the application id', answerTag, utf8(appId), hash, payload),
    signing('signed without the padding', answerTag, app, hash, utf8(json)),
    signing('signed with other padding', answerTag, app, hash, concatBytes(payload, utf8(' '.repeat(256)))),
    signing('the padding is longer than what is signed', answerTag, app, hash, payload.subarray(0, -1)),
    signing('signed as in version 1: the payload alone', payload),
    is('the signature of a lease', {
      signature: Buffer.from(tokenOf(leaseHeader, json).split('.')[2] ?? '', 'base64url'),
    }),
    is('another payload than was signed', {
      payload: padded(JSON.stringify({ ...goodAnswer(call), message: 'Another' })),
      signed,
    }),
    is('the signature of a refusal', {
      signed: signedFor(exchange, padded(JSON.stringify(refusal(call, 'BANNED')))),
    }),
    is('signed with another key', { signingSeed: fixedBytes('other seed', 32) }),
    is('S plus the group order', {
      signature: concatBytes(good.subarray(0, 32), addGroupOrder(good.subarray(32))),
    }),
    is('a bit of R is flipped', { signature: flipBit(good, 3) }),
    is('a signature of zero bytes', { signature: new Uint8Array(64) }),
    is('signed text that is no JSON, by another key', {
      payload: padded('not JSON'),
      signingSeed: fixedBytes('other seed', 32),
    }),
    {
      ...is('an application key of small order, under which R the identity and S zero fit', {
        signature: concatBytes(Uint8Array.of(1), new Uint8Array(63)),
      }),
      publicKeyHex: identity?.hex ?? bytesToHex(publicKey),
    },
  ];
}

function bindings(call: CallName): AnswerVector[] {
  const good = goodAnswer(call);
  const { v: _v, ...withoutVersion } = good;
  const { call: _call, ...withoutCall } = good;
  const is = (why: string, members: unknown) => refuse(call, why, 'binding', JSON.stringify(members));
  return [
    ...callNames
      .filter((other) => other !== call)
      .map((other) => is(`the answer of ${other}, to this request`, goodAnswer(other))),
    is('the name of another call', { ...good, call: 'devices.rename' }),
    is('the name of the call in upper case', { ...good, call: call.toUpperCase() }),
    is('no call', withoutCall),
    is('version 1', { ...good, v: 1 }),
    is('the version as a text', { ...good, v: '2' }),
    is('no version', withoutVersion),
    is('an array', [good]),
    is('a text', 'OK'),
    is('null', null),
    is('true', true),
  ];
}
