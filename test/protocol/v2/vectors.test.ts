import { sha256 } from '@noble/hashes/sha2.js';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { nativePrimitives } from '../../../src/crypto/native-primitives.ts';
import { agreeX25519, x25519PrivateKey } from '../../../src/crypto/x25519.ts';
import { decodeBase64, encodeBase64 } from '../../../src/protocol/base64.ts';
import { utf8 } from '../../../src/protocol/bytes.ts';
import { getPublicKey, signBytes, verifyBytes } from '../../../src/protocol/signature.ts';
import { statementBytes } from '../../../src/protocol/v2/constants.ts';
import { deriveContext, keyScheduleContext } from '../../../src/protocol/v2/hpke.ts';
import { readStatement, signedStatement, statementBody } from '../../../src/protocol/v2/key-statement.ts';
import { learnStatement } from '../../../src/protocol/v2/learn-statement.ts';
import { readLease } from '../../../src/protocol/v2/lease.ts';
import {
  padded,
  readRequest,
  requestBytes,
  requestInfo,
  sealAnswer,
  signedAnswer,
} from '../../../src/protocol/v2/message.ts';
import { callMembers } from '../../../src/protocol/v2/messages.ts';
import { noblePrimitives } from '../../../src/protocol/v2/primitives.ts';
import { readAnswer } from '../../../src/protocol/v2/read-answer.ts';
import { parseStrictJson } from '../../../src/protocol/v2/strict-json.ts';
import { judgeRequest } from './judge-request.ts';
import { sealedV2Vectors } from './sealed-vectors.ts';

const { now, application, service, strictJson, statements, calls, requests, leases } = sealedV2Vectors;
const { appId, seedHex: seed, publicKeyHex: publicKey } = application;
const answerWithLease = z.object({ lease: z.string(), time: z.number(), licenseId: z.string() });
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const isEqual = (bytes: Uint8Array, other: Uint8Array) => expect(hexOf(bytes)).toBe(hexOf(other));

describe('strict JSON', () => {
  it.each(strictJson.accept)('is parsed: $why', ({ json, jsonHex }) => {
    isEqual(utf8(json), jsonHex);
    expect(parseStrictJson(jsonHex)).toEqual(JSON.parse(json));
  });
  it.each(strictJson.reject)('is refused: $why', ({ jsonHex }) => {
    expect(parseStrictJson(jsonHex)).toBeUndefined();
  });
});

describe('a key statement', () => {
  it.each(statements.accept)('is learnt: $why', ({ heldNotBefore, signedHex, statementHex, ...vector }) => {
    const { notBefore, notAfter, keyId, publicKeyHex, statementB64 } = vector;
    const key = { notBefore, notAfter, keyId, publicKey: publicKeyHex };
    const held = heldNotBefore === null ? null : { notBefore: heldNotBefore };
    expect(learnStatement(statementHex, { appId, publicKey, held })).toEqual(key);
    isEqual(signedStatement(appId, statementBody(key)), signedHex);
    isEqual(statementHex.subarray(0, 64), signBytes(signedHex, seed));
    expect(encodeBase64(statementHex)).toBe(statementB64);
  });

  const held = readStatement(service.statementHex, appId, publicKey);

  it.each(statements.reject)(
    'is refused by its $failed: $why',
    ({ statementHex, failed, publicKeyHex = publicKey }) => {
      expect(learnStatement(statementHex, { appId, publicKey: publicKeyHex, held })).toBeNull();
      // The named check is the first that fails.
      const body = statementHex.subarray(64);
      const isSigned = verifyBytes(statementHex.subarray(0, 64), signedStatement(appId, body), publicKeyHex);
      const first =
        statementHex.length !== statementBytes
          ? 'length'
          : !isSigned
            ? 'signature'
            : readStatement(statementHex, appId, publicKeyHex) === null
              ? 'content'
              : 'age';
      expect(first).toBe(failed);
    },
  );
});

describe.each([
  { name: 'noble', primitives: noblePrimitives },
  { name: 'native', primitives: nativePrimitives },
])('with $name primitives', ({ primitives }) => {
  it.each(calls)('$call is encrypted and answered with the bytes of the vectors', ({ request, answer }) => {
    const ephemeral = x25519PrivateKey({
      privateKey: request.ephemeralPrivateKeyHex,
      publicKey: request.encapsulatedKeyHex,
    });
    const sharedPoint = agreeX25519(ephemeral, service.publicKeyHex) ?? expect.fail('no agreement');
    isEqual(sharedPoint, request.sharedPointHex);
    isEqual(padded(request.json), request.plaintextHex);
    isEqual(requestInfo(service.keyId), request.infoHex);
    const scheduleContext = keyScheduleContext(request.infoHex, primitives);
    isEqual(scheduleContext, request.scheduleContextHex);
    const agreement = {
      sharedPoint,
      encapsulatedKey: request.encapsulatedKeyHex,
      recipientKey: service.publicKeyHex,
      scheduleContext,
    };
    const context = deriveContext(agreement, primitives) ?? expect.fail('no context');
    const ciphertext = context.seal(request.plaintextHex);
    isEqual(primitives.seal(request.keyHex, request.nonceHex, request.plaintextHex), ciphertext);
    const body = requestBytes({ keyId: service.keyId, ...agreement, ciphertext });
    isEqual(body, request.bodyHex);
    isEqual(sha256(body), request.bodySha256Hex);
    isEqual(
      context.exportSecret(utf8('application/vnd.latchkey.v2 response'), 32),
      request.responseSecretHex,
    );

    isEqual(padded(answer.json), answer.payloadHex);
    isEqual(signedAnswer(appId, request.bodySha256Hex, answer.payloadHex), answer.signedHex);
    isEqual(signBytes(answer.signedHex, seed), answer.signatureHex);
    const parts = { signature: answer.signatureHex, payload: answer.payloadHex };
    isEqual(sealAnswer({ context, ...agreement, primitives }, answer.nonceHex, parts), answer.bodyHex);
    const plaintext = primitives.open(answer.answerKeyHex, answer.answerIvHex, answer.bodyHex.subarray(32));
    isEqual(plaintext ?? expect.fail('does not open'), Buffer.concat([parts.signature, parts.payload]));
  });
});

describe.each(calls)('an answer to $call', ({ call, request, answer, answers }) => {
  const encapsulatedKey = request.encapsulatedKeyHex;
  const context =
    deriveContext({
      sharedPoint: request.sharedPointHex,
      encapsulatedKey,
      recipientKey: service.publicKeyHex,
      scheduleContext: keyScheduleContext(request.infoHex),
    }) ?? expect.fail('no context');
  const sent = {
    call,
    appId,
    publicKey,
    secret: { context, encapsulatedKey },
    sha256: request.bodySha256Hex,
  };

  it('says what the vectors say', () => {
    const result = readAnswer(answer.bodyHex, sent);
    if (result.kind === 'none') expect.fail(result.failed);
    expect(result.answer).toEqual(JSON.parse(answer.json));
  });

  it.each(answers)(
    'is $expect: $why',
    ({ answerHex, expect: expected, failed, publicKeyHex = publicKey }) => {
      const result = readAnswer(answerHex, { ...sent, publicKey: publicKeyHex });
      if (result.kind === 'none') expect([expected, failed]).toEqual(['no answer', result.failed]);
      else expect([expected, failed]).toEqual([result.answer.success ? 'valid' : 'refused', undefined]);
    },
  );

  it.each(answers.filter(({ learns }) => learns !== undefined))(
    'brings a statement to learn ($learns): $why',
    ({ answerHex, learns }) => {
      const result = readAnswer(answerHex, sent);
      if (result.kind === 'none') expect.fail(result.failed);
      const statement = decodeBase64(result.answer.keys ?? '') ?? new Uint8Array();
      const held = readStatement(service.statementHex, appId, publicKey);
      expect(learnStatement(statement, { appId, publicKey, held }) !== null).toBe(learns);
    },
  );

  // Of register, login and upgrade, no case is about a lease.
  const leased = answers.filter(({ stores }) => stores !== undefined);
  it.runIf(leased.length > 0).each(leased)(
    'brings a lease to store ($stores): $why',
    ({ answerHex, stores }) => {
      const result = readAnswer(answerHex, sent);
      if (result.kind === 'none') expect.fail(result.failed);
      const answer = answerWithLease.parse(result.answer);
      const { dev: device } = leases.reader;
      const read = readLease(answer.lease, { appId, publicKey, device, time: answer.time });
      expect(read.ok && read.claims.sub === answer.licenseId).toBe(stores);
    },
  );
});

describe('a server', () => {
  const server = {
    appId,
    now,
    keyId: service.keyId,
    privateKey: service.privateKeyHex,
    publicKey: service.publicKeyHex,
  };
  it.each(requests)('$expect: $why', ({ bodyHex, expect: expected, encapsulatedKeyUsed }) => {
    const used = encapsulatedKeyUsed ? hexOf(readRequest(bodyHex)?.encapsulatedKey ?? new Uint8Array()) : '';
    expect(judgeRequest(bodyHex, { ...server, use: (key) => hexOf(key) !== used })).toBe(expected);
  });
});

it('the vectors have cases for every call and every check, and the application has the key of its seed', () => {
  expect(calls.map(({ call }) => call)).toEqual(Object.keys(callMembers));
  for (const { call, answers } of calls) {
    const named = new Set(answers.map(({ failed }) => failed));
    const all = [undefined, 'opening', 'signature', 'json', 'binding', 'members'];
    expect([...named].sort(), call).toEqual([...all].sort());
  }
  isEqual(getPublicKey(seed), publicKey);
});
