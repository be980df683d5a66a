import { decodeBase64, encodeBase64 } from '../../protocol/base64.ts';
import { initAnswer, now } from './exchange.ts';
import { fixedBytes, flipBit } from './material.ts';

/** Answers to the handshake, with the client's result (SPEC §3). */
export function handshakeVectors() {
  const { answer } = initAnswer();
  const signature = decodeBase64(answer.signatureB64) ?? new Uint8Array();
  const { hkdfSaltB64: _salt, ...withoutSalt } = answer;
  const untrusted = 'untrusted-answer';
  return [
    { why: 'good', answer, expect: 'session' },
    { why: '60 seconds behind', answer: initAnswer({ timestamp: now - 60 }).answer, expect: 'session' },
    { why: '60 seconds ahead', answer: initAnswer({ timestamp: now + 60 }).answer, expect: 'session' },
    { why: 'an unknown member', answer: { ...answer, motd: 'hello' }, expect: 'session' },
    { why: '61 seconds behind', answer: initAnswer({ timestamp: now - 61 }).answer, expect: 'clock' },
    { why: '61 seconds ahead', answer: initAnswer({ timestamp: now + 61 }).answer, expect: 'clock' },
    {
      why: 'signed with another key',
      answer: initAnswer({ signingSeed: fixedBytes('other seed', 32) }).answer,
      expect: untrusted,
    },
    {
      why: 'signed for another application',
      answer: initAnswer({ signedAppId: '01890a5d-ac96-774b-bcce-b302099a8058' }).answer,
      expect: untrusted,
    },
    {
      why: 'a bit of the signature is flipped',
      answer: { ...answer, signatureB64: encodeBase64(flipBit(signature, 300)) },
      expect: untrusted,
    },
    {
      why: 'another server nonce than was signed',
      answer: { ...answer, serverNonceB64: encodeBase64(fixedBytes('other nonce', 32)) },
      expect: untrusted,
    },
    {
      why: 'another salt than was signed',
      answer: { ...answer, hkdfSaltB64: encodeBase64(fixedBytes('other salt', 32)) },
      expect: untrusted,
    },
    { why: 'another session than was signed', answer: { ...answer, sessionId: 'other' }, expect: untrusted },
    { why: 'another time than was signed', answer: { ...answer, timestamp: now + 1 }, expect: untrusted },
    { why: 'another version', answer: { ...answer, v: 2 }, expect: untrusted },
    { why: 'success false', answer: { ...answer, success: false }, expect: untrusted },
    { why: 'no salt', answer: withoutSalt, expect: untrusted },
    { why: 'time as text', answer: { ...answer, timestamp: String(now) }, expect: untrusted },
    {
      why: 'a server nonce of 16 bytes',
      answer: { ...answer, serverNonceB64: encodeBase64(new Uint8Array(16)) },
      expect: untrusted,
    },
    {
      why: 'a server nonce of 16 bytes, correctly signed',
      answer: initAnswer({ nonce: fixedBytes('short server nonce', 16) }).answer,
      expect: untrusted,
    },
    {
      why: 'a session id of 1025 characters',
      answer: { ...answer, sessionId: 'x'.repeat(1025) },
      expect: untrusted,
    },
    { why: 'an array', answer: [answer], expect: untrusted },
    { why: 'null', answer: null, expect: untrusted },
  ];
}
