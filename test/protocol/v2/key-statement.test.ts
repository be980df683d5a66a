import { describe, expect, test } from 'vitest';
import { concatBytes } from '../../../src/protocol/bytes.ts';
import { getPublicKey, signBytes } from '../../../src/protocol/signature.ts';
import { readStatement, signedStatement, statementBody } from '../../../src/protocol/v2/key-statement.ts';

const appId = '01890a5d-ac96-774b-bcce-b302099a8057';
const otherAppId = '01890a5d-ac96-774b-bcce-b302099a8058';
const seed = new Uint8Array(32).fill(5);
const publicKey = getPublicKey(seed);
const key = {
  notBefore: 1_760_000_000,
  notAfter: 1_760_259_200,
  keyId: 200,
  publicKey: new Uint8Array(32).fill(9),
};
const sign = (body: Uint8Array, signedAppId = appId, signingSeed = seed) =>
  concatBytes(signBytes(signedStatement(signedAppId, body), signingSeed), body);
const read = (bytes: Uint8Array) => readStatement(bytes, appId, publicKey);

test('a signed statement is 121 bytes and gives the key and its period', () => {
  const statement = sign(statementBody(key));
  expect(statement).toHaveLength(121);
  expect(read(statement)).toEqual(key);
});

test('the body is a period and a key configuration of RFC 9458', () => {
  expect(Buffer.from(statementBody(key)).toString('hex')).toBe(
    `0000000068e7780000000000${(1_760_259_200).toString(16)}c80020${'09'.repeat(32)}000400010003`,
  );
});

test('a key that does not fit is not written', () => {
  for (const wrong of [{ keyId: 300 }, { keyId: -1 }, { notBefore: -1 }, { notAfter: key.notBefore }]) {
    expect(() => statementBody({ ...key, ...wrong }), JSON.stringify(wrong)).toThrow(RangeError);
  }
});

describe('is no statement:', () => {
  const body = statementBody(key);
  const good = sign(body);
  test.each<[string, Uint8Array]>([
    ['one for another application', sign(body, otherAppId)],
    ['one that is signed with another key', sign(body, appId, new Uint8Array(32).fill(6))],
    ['one with a signature over the body alone', concatBytes(signBytes(body, seed), body)],
    ['120 bytes', good.subarray(0, 120)],
    ['122 bytes', concatBytes(good, Uint8Array.of(0))],
    [
      'a period that ends as it begins',
      sign(concatBytes(body.subarray(0, 8), body.subarray(0, 8), body.subarray(16))),
    ],
    ['a time beyond all dates', sign(concatBytes(new Uint8Array(8).fill(255), body.subarray(8)))],
  ])('%s', (_what, bytes) => {
    expect(read(bytes)).toBeNull();
  });

  test('one with a flipped bit anywhere', () => {
    for (let bit = 0; bit < good.length * 8; bit += 7) {
      const changed = Uint8Array.from(good);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(read(changed), `bit ${bit}`).toBeNull();
    }
  });

  test('one with another suite, though it is signed', () => {
    for (const index of [17, 18, 51, 52, 53, 54, 55, 56]) {
      const changed = Uint8Array.from(body);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(read(sign(changed)), `byte ${index}`).toBeNull();
    }
  });
});
