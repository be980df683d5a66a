import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { answerKeys, openAnswer, sealAnswer } from '../../src/crypto/sealed-answer.ts';

const secret = randomBytes(32);
const request = '["developer","POST /api/v1/licenses/create","order-2026-000017"]';
const answer = Buffer.from('PZJ4S-WUZFM-S3HQD-HGXCW-8MUCA');
const content = '["session","a body"]';
const keys = answerKeys(secret, request, content);
const sealed = sealAnswer(keys, 'part', answer);

test('a stored answer opens with the key of its request', () => {
  const opened = openAnswer(answerKeys(secret, request, content), 'part', sealed);
  expect(Buffer.from(opened ?? [])).toEqual(answer);
});

test('it does not open with another key, another master secret, or as another part', () => {
  const otherRequest = answerKeys(secret, request.replace('17', '18'), content);
  const otherSecret = answerKeys(randomBytes(32), request, content);
  for (const other of [otherRequest, otherSecret]) {
    expect(other.requestHash).not.toEqual(keys.requestHash);
    expect(other.fingerprint).not.toEqual(keys.fingerprint);
    expect(openAnswer(other, 'part', sealed)).toBeNull();
    expect(openAnswer({ ...keys, key: other.key }, 'part', sealed)).toBeNull();
  }
  expect(openAnswer(keys, 'another part', sealed)).toBeNull();
});

test('what names it does not encrypt it', () => {
  expect(keys.requestHash).not.toEqual(keys.key);
  expect(openAnswer({ ...keys, key: keys.requestHash }, 'part', sealed)).toBeNull();
});

test('another content has another fingerprint, which is not told without the master secret', () => {
  const other = answerKeys(secret, request, content.replace('a body', 'another'));
  expect(other.requestHash).toEqual(keys.requestHash);
  expect(other.fingerprint).not.toEqual(keys.fingerprint);
});
