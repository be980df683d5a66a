import { decodeBase64, encodeBase64 } from '../../protocol/base64.ts';
import { concatBytes, utf8 } from '../../protocol/bytes.ts';
import { canonicalJson, type JsonObject } from '../../protocol/canonical-json.ts';
import { goodAnswer, now, sealAnswer } from './exchange.ts';
import { fixedBytes, flipBit } from './material.ts';
import { explanationCases, licenseMemberCases } from './v2/answer-shapes.ts';

export interface AnswerVector {
  readonly why: string;
  readonly answer: unknown;
  /** The sealed text, if the file includes it. */
  readonly innerAnswer?: string;
  /** `valid`, `refused` (a signed failure), `clock`, or `untrusted-answer`. */
  readonly expect: string;
}

const { nonce: _nonce, ...withoutNonce } = goodAnswer;
const { code: _code, ...withoutCode } = goodAnswer;
const { status: _s, expiresAt: _e, subscriptionTier: _t, ...head } = goodAnswer;
const refused = { ...head, success: false, code: 'EXPIRED', status: null, expiresAt: null };
const goodText = canonicalJson(goodAnswer);
const untrusted = 'untrusted-answer';

/** Answers to the request of the exchange, with the result of a client that requested the echo (SPEC §7). */
export function answerVectors(): AnswerVector[] {
  return [
    ...wellMade(),
    ...envelopes(),
    ...texts(),
    ...signedTexts(),
    ...bindings(),
    ...shapes(),
    ...licenseShapes(),
  ];
}

function inner(why: string, members: JsonObject, expect: string): AnswerVector {
  return { why, answer: sealAnswer(why, canonicalJson(members)), expect };
}

function wellMade(): AnswerVector[] {
  return [
    inner('good', goodAnswer, 'valid'),
    inner('never expires', { ...goodAnswer, expiresAt: null }, 'valid'),
    inner('a status that the client does not know', { ...goodAnswer, status: 'later' }, 'valid'),
    inner('an unknown inner member', { ...goodAnswer, later: [1] }, 'valid'),
    inner('refused', refused, 'refused'),
    inner('refused with a code that the client does not know', { ...refused, code: 'LATER_CODE' }, 'refused'),
    {
      why: 'an unknown member 64 deep',
      answer: sealAnswer('64 deep', withLater(`${'['.repeat(63)}${']'.repeat(63)}`)),
      expect: 'valid',
    },
    inner('60 seconds behind', { ...goodAnswer, timestamp: now - 60 }, 'valid'),
    inner('60 seconds ahead', { ...goodAnswer, timestamp: now + 60 }, 'valid'),
  ];
}

function envelopes(): AnswerVector[] {
  const good = sealAnswer('good', goodText);
  const { signatureB64: _signature, ...unsigned } = good;
  const flip = (text: string, bit: number) =>
    encodeBase64(flipBit(decodeBase64(text) ?? new Uint8Array(), bit));
  const otherSeed = fixedBytes('other seed', 32);
  const { signatureB64: refusalSignature } = sealAnswer(
    'x',
    canonicalJson({ ...goodAnswer, success: false }),
  );
  return [
    { why: 'another outer session is ignored', answer: { ...good, sessionId: 'other' }, expect: 'valid' },
    { why: 'a bit of the IV is flipped', answer: { ...good, ivB64: flip(good.ivB64, 0) }, expect: untrusted },
    {
      why: 'a bit of the ciphertext is flipped',
      answer: { ...good, ciphertextB64: flip(good.ciphertextB64, 50) },
      expect: untrusted,
    },
    {
      why: 'a bit of the tag is flipped',
      answer: { ...good, tagB64: flip(good.tagB64, 1) },
      expect: untrusted,
    },
    {
      why: 'a bit of the signature is flipped',
      answer: { ...good, signatureB64: flip(good.signatureB64, 1) },
      expect: untrusted,
    },
    { why: 'no signature', answer: unsigned, expect: untrusted },
    { why: 'an empty signature', answer: { ...good, signatureB64: '' }, expect: untrusted },
    {
      why: 'the signature of another answer',
      answer: { ...good, signatureB64: refusalSignature },
      expect: untrusted,
    },
    {
      why: 'signed with another key',
      answer: sealAnswer('other seed', goodText, { signingSeed: otherSeed }),
      expect: untrusted,
    },
    {
      why: 'sealed under another key',
      answer: sealAnswer('other key', goodText, { key: fixedBytes('other key', 32) }),
      expect: untrusted,
    },
    { why: 'the inner object, not sealed', answer: goodAnswer, expect: untrusted },
    { why: 'a plaintext success', answer: { success: true, code: 'OK', message: 'OK' }, expect: untrusted },
    { why: 'null', answer: null, expect: untrusted },
  ];
}

function texts(): AnswerVector[] {
  const text = (why: string, innerText: string, signedText = innerText): AnswerVector => ({
    why,
    answer: sealAnswer(why, innerText, { signedText }),
    expect: untrusted,
  });
  const unsorted = JSON.stringify(goodAnswer);
  return [
    text('not canonical, signed as it is', unsorted),
    text('not canonical, signed in its canonical form', unsorted, goodText),
    text('white space at the end', `${goodText}\n`, goodText),
    text('a byte order mark', `\ufeff${goodText}`, goodText),
    text('a member twice', goodText.replace('{', '{"code":"BANNED",'), goodText),
    text('a needless escape', goodText.replace('ü', '\\u00fc'), goodText),
    text('not JSON', 'OK'),
    text('empty', ''),
    text('an array', `[${goodText}]`),
    text('a text', '"OK"'),
  ];
}

/** Correctly signed as they are, so that only the check of the text itself refuses them. */
function signedTexts(): AnswerVector[] {
  const text = (why: string, plaintext: string | Uint8Array): AnswerVector => ({
    why,
    answer: sealAnswer(why, plaintext),
    expect: untrusted,
  });
  /** The good answer with these bytes at the end of its message. */
  const bytes = (why: string, ...inMessage: number[]) => {
    const [before = '', after = ''] = goodText.split('tig"');
    return text(why, concatBytes(utf8(`${before}tig`), Uint8Array.from(inMessage), utf8(`"${after}`)));
  };
  const twice = (first: string, second: string) => goodText.replace('"code":"OK"', `${first},${second}`);
  const refusedText = goodText.replace('"success":true', '"success":false,"success":true');
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  return [
    text('signed: a member twice, the last one good', twice('"code":"BANNED"', '"code":"OK"')),
    text('signed: a member twice, the first one good', twice('"code":"OK"', '"code":"BANNED"')),
    text('signed: a member twice, both good', twice('"code":"OK"', '"code":"OK"')),
    text('signed: success twice, the last one true', refusedText),
    text('signed: a member twice, one name with an escape', twice('"c\\u006fde":"BANNED"', '"code":"OK"')),
    bytes('signed: a byte that no UTF-8 has', 0xff),
    bytes('signed: UTF-8 that is cut short', 0xc3),
    bytes('signed: a continuation byte alone', 0x80),
    bytes('signed: an overlong slash', 0xc0, 0xaf),
    bytes('signed: an overlong NUL', 0xc0, 0x80),
    bytes('signed: a surrogate in UTF-8', 0xed, 0xa0, 0x80),
    bytes('signed: beyond U+10FFFF', 0xf4, 0x90, 0x80, 0x80),
    text('signed: a byte order mark', `\ufeff${goodText}`),
    text('signed: white space at the end', `${goodText}\n`),
    text('signed: an unknown member 65 deep', withLater(`${'['.repeat(64)}${']'.repeat(64)}`)),
    text('signed: an unknown member 20,000 deep', withLater(deep)),
  ];
}

/** Members that are absent if they have nothing to say. */
function licenseShapes(): AnswerVector[] {
  return [
    ...licenseMemberCases.map(({ why, members, valid }) =>
      inner(why, { ...goodAnswer, ...members }, valid ? 'valid' : untrusted),
    ),
    ...explanationCases.map(({ why, code, members }) =>
      inner(why, { ...refused, code, ...members }, 'refused'),
    ),
  ];
}

/** The good answer with an unknown member, in canonical order. */
const withLater = (json: string) => goodText.replace('"message"', `"later":${json},"message"`);

function bindings(): AnswerVector[] {
  return [
    inner('no echo', withoutNonce, untrusted),
    inner('another nonce', { ...goodAnswer, nonce: encodeBase64(fixedBytes('other', 16)) }, untrusted),
    inner(
      'the nonce in another spelling',
      { ...goodAnswer, nonce: goodAnswer.nonce.replaceAll('=', '') },
      untrusted,
    ),
    inner('another session', { ...goodAnswer, sessionId: 'other' }, untrusted),
    inner('61 seconds behind', { ...goodAnswer, timestamp: now - 61 }, 'clock'),
    inner('61 seconds ahead', { ...goodAnswer, timestamp: now + 61 }, 'clock'),
    inner(
      'stale, with our nonce and another shape: the clock is judged before the shape',
      { ...withoutCode, timestamp: now - 61 },
      'clock',
    ),
    inner(
      'stale and of another session',
      { ...goodAnswer, sessionId: 'other', timestamp: now - 61 },
      untrusted,
    ),
    inner(
      'an old recording: stale and without our nonce',
      { ...withoutNonce, timestamp: now - 3600 },
      untrusted,
    ),
  ];
}

function shapes(): AnswerVector[] {
  return [
    inner('success with another code than OK', { ...goodAnswer, code: 'EXPIRED' }, untrusted),
    inner(
      'failure with the code OK',
      { ...goodAnswer, success: false, status: null, expiresAt: null },
      untrusted,
    ),
    inner('success as text', { ...goodAnswer, success: 'true' }, untrusted),
    inner('success as a number', { ...goodAnswer, success: 1 }, untrusted),
    inner('no code', withoutCode, untrusted),
    inner('version 2', { ...goodAnswer, v: 2 }, untrusted),
    inner('an expiry that is no instant', { ...goodAnswer, expiresAt: 'tomorrow' }, untrusted),
    inner(
      'an expiry with an offset',
      { ...goodAnswer, expiresAt: '2026-10-09T08:53:20.000+00:00' },
      untrusted,
    ),
    inner('an expiry without a zone', { ...goodAnswer, expiresAt: '2026-10-09T08:53:20.000' }, untrusted),
    inner(
      'an expiry on a day that does not exist',
      { ...goodAnswer, expiresAt: '2026-02-30T08:53:20.000Z' },
      untrusted,
    ),
    inner(
      'an expiry on 29 February of a common year',
      { ...goodAnswer, expiresAt: '2027-02-29T08:53:20.000Z' },
      untrusted,
    ),
    inner('refused with a status', { ...refused, status: 'active' }, untrusted),
    inner('refused with an expiry', { ...refused, expiresAt: goodAnswer.expiresAt }, untrusted),
    inner('success with status null', { ...goodAnswer, status: null }, untrusted),
    inner('a negative tier', { ...goodAnswer, subscriptionTier: -1 }, untrusted),
    inner('a tier with a fraction', { ...goodAnswer, subscriptionTier: 1.5 }, untrusted),
  ];
}
