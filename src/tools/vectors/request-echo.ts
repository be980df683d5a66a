import { sha256 } from '@noble/hashes/sha2.js';
import { encodeBase64 } from '../../protocol/base64.ts';
import { utf8 } from '../../protocol/bytes.ts';
import { canonicalJson, type JsonObject } from '../../protocol/canonical-json.ts';
import type { AnswerVector } from './answers.ts';
import { goodAnswer, goodRequest, sealAnswer, sealRequest } from './exchange.ts';

const asking = { ...goodRequest, echoRequest: true };
const hashOf = (text: string) => encodeBase64(sha256(utf8(text)));

/**
 * A validate that asks for the hash of its request, and answers to it (SPEC §8). The request has white space and an
 * unknown member, so that a hash over anything but the bytes that were opened is another one.
 */
export function requestEchoVectors() {
  const innerRequest = JSON.stringify({ later: 'ignored', ...asking }, null, 1);
  const result: JsonObject = { ...goodAnswer, requestSha256B64: hashOf(innerRequest) };
  const innerAnswer = canonicalJson(result);
  return {
    innerRequest,
    request: sealRequest('echo good', innerRequest),
    innerAnswer,
    answer: sealAnswer('echo good', innerAnswer),
    answers: answers(innerRequest, result),
  };
}

function answers(innerRequest: string, good: JsonObject): AnswerVector[] {
  const { requestSha256B64, ...without } = good;
  const inner = (why: string, members: JsonObject, expect: string): AnswerVector => ({
    why,
    answer: sealAnswer(`echo ${why}`, canonicalJson(members)),
    expect,
  });
  const hashed = (why: string, text: string) =>
    inner(why, { ...good, requestSha256B64: hashOf(text) }, untrusted);
  const untrusted = 'untrusted-answer';
  const otherKey = { ...asking, licenseKey: 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA' };
  return [
    inner('good', good, 'valid'),
    inner('refused', { ...refusal(good), requestSha256B64 }, 'refused'),
    inner('no hash', without, untrusted),
    inner('hash null', { ...without, requestSha256B64: null }, untrusted),
    inner('an empty hash', { ...good, requestSha256B64: '' }, untrusted),
    inner(
      'the hash without padding',
      { ...good, requestSha256B64: String(requestSha256B64).slice(0, -1) },
      untrusted,
    ),
    hashed('another license key: the question of a rewriting proxy', JSON.stringify(otherKey, null, 1)),
    hashed('another device', JSON.stringify({ ...asking, hwid: 'device-2' }, null, 1)),
    hashed('the hash of the request in its canonical form', canonicalJson({ later: 'ignored', ...asking })),
    hashed('the hash of the request with a line break at its end', `${innerRequest}\n`),
    hashed('the hash of nothing', ''),
  ];
}

function refusal(good: JsonObject): JsonObject {
  const { subscriptionTier: _tier, ...members } = good;
  return { ...members, success: false, code: 'EXPIRED', status: null, expiresAt: null };
}
