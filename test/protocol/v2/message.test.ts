import { sha256 } from '@noble/hashes/sha2.js';
import { describe, expect, test } from 'vitest';
import { concatBytes, utf8 } from '../../../src/protocol/bytes.ts';
import { getPublicKey, signBytes, verifyBytes } from '../../../src/protocol/signature.ts';
import { deriveContext, keyScheduleContext } from '../../../src/protocol/v2/hpke.ts';
import {
  openAnswer,
  padded,
  readRequest,
  requestBytes,
  requestInfo,
  sealAnswer,
  signedAnswer,
} from '../../../src/protocol/v2/message.ts';

const appId = '01890a5d-ac96-774b-bcce-b302099a8057';
const otherAppId = '01890a5d-ac96-774b-bcce-b302099a8058';
const seed = new Uint8Array(32).fill(5);
const publicKey = getPublicKey(seed);
const filled = (byte: number, length = 32) => new Uint8Array(length).fill(byte);

/** A request and its context, as both sides have it. */
function request(text: string, { keyId = 7, sharedPoint = filled(1), encapsulatedKey = filled(2) } = {}) {
  const context =
    deriveContext({
      sharedPoint,
      encapsulatedKey,
      recipientKey: filled(3),
      scheduleContext: keyScheduleContext(requestInfo(keyId)),
    }) ?? expect.fail('the shared point is zero');
  const body = requestBytes({ keyId, encapsulatedKey, ciphertext: context.seal(padded(text)) });
  return { body, hash: sha256(body), context, encapsulatedKey };
}

function answer(to: ReturnType<typeof request>, text: string) {
  const payload = padded(text);
  return sealAnswer(to, filled(4), {
    signature: signBytes(signedAnswer(appId, to.hash, payload), seed),
    payload,
  });
}

describe('a request', () => {
  const { body, context } = request('{"v":2}');

  test('is taken apart into what it was composed of, and opens', () => {
    const parts = readRequest(body) ?? expect.fail('no request');
    expect(parts).toMatchObject({ keyId: 7, encapsulatedKey: filled(2) });
    const opened = context.open(parts.ciphertext) ?? expect.fail('does not open');
    expect(new TextDecoder().decode(opened)).toBe(`{"v":2}${' '.repeat(249)}`);
  });

  test('begins with its key and the suite', () => {
    expect(Buffer.from(body.subarray(0, 7)).toString('hex')).toBe('07002000010003');
  });

  test('is refused with another suite, and if it is too short or too long', () => {
    for (let index = 1; index < 7; index += 1) {
      const changed = Uint8Array.from(body);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(readRequest(changed), `byte ${index}`).toBeNull();
    }
    expect(readRequest(body.subarray(0, 54))).toBeNull();
    expect(readRequest(concatBytes(body, filled(0, 16_385 - body.length)))).toBeNull();
    expect(readRequest(concatBytes(body, filled(0, 16_384 - body.length)))).not.toBeNull();
  });

  test('does not open as one to another key', () => {
    const other = request('{"v":2}', { keyId: 8 });
    expect(other.context.open(readRequest(body)?.ciphertext ?? filled(0))).toBeNull();
  });
});

test('what does not fit into a message is not written', () => {
  const parts = { keyId: 7, encapsulatedKey: filled(2), ciphertext: filled(0, 16_384) };
  expect(() => requestBytes(parts)).toThrow(RangeError);
  expect(() => requestBytes({ ...parts, keyId: 256, ciphertext: filled(0) })).toThrow(RangeError);
  expect(() => requestInfo(256)).toThrow(RangeError);
  expect(() => padded('"\ud800"')).toThrow(RangeError);
  for (const id of ['', appId.toUpperCase(), appId.replaceAll('-', ''), `${appId}0`]) {
    expect(() => signedAnswer(id, filled(0), filled(0)), id).toThrow(RangeError);
  }
  expect(() => signedAnswer(appId, filled(0, 31), filled(0))).toThrow(RangeError);
});

test('padding hides lengths up to the next 256 bytes, and adds none at a multiple', () => {
  expect(padded('{}')).toHaveLength(256);
  expect(padded('x'.repeat(256))).toHaveLength(256);
  expect(padded('x'.repeat(257))).toHaveLength(512);
  expect(padded('ü'.repeat(128))).toHaveLength(256);
});

describe('an answer', () => {
  const asked = request('{"call":"validate"}');
  const sealed = answer(asked, '{"code":"OK"}');

  test('opens for its request, with a signature over it', () => {
    const { signature, payload } = openAnswer(asked, sealed) ?? expect.fail('does not open');
    expect(new TextDecoder().decode(payload).trim()).toBe('{"code":"OK"}');
    expect(verifyBytes(signature, signedAnswer(appId, asked.hash, payload), publicKey)).toBe(true);
  });

  test('has a signature that fits no other request, application or payload', () => {
    const { signature, payload } = openAnswer(asked, sealed) ?? expect.fail('does not open');
    const other = request('{"call":"login"}');
    for (const signed of [
      signedAnswer(appId, other.hash, payload),
      signedAnswer(otherAppId, asked.hash, payload),
      signedAnswer(appId, asked.hash, padded('{"code":"OK"} '.repeat(20))),
      signedAnswer(appId, asked.hash, utf8('{"code":"OK"}')),
    ]) {
      expect(verifyBytes(signature, signed, publicKey)).toBe(false);
    }
  });

  test('does not open under the secret or the encapsulated key of another request', () => {
    expect(openAnswer(request('', { sharedPoint: filled(9) }), sealed)).toBeNull();
    expect(openAnswer({ ...asked, encapsulatedKey: filled(9) }, sealed)).toBeNull();
  });

  test('does not open after any change, nor cut short or extended', () => {
    for (let index = 0; index < sealed.length; index += 5) {
      const changed = Uint8Array.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(openAnswer(asked, changed), `byte ${index}`).toBeNull();
    }
    for (const length of [0, 47, 111, sealed.length - 1]) {
      expect(openAnswer(asked, sealed.subarray(0, length))).toBeNull();
    }
    expect(openAnswer(asked, concatBytes(sealed, Uint8Array.of(0)))).toBeNull();
  });

  test('is refused beyond 65,536 bytes', () => {
    const payload = filled(0x20, 65_536 - 32 - 64 - 16);
    const most = sealAnswer(asked, filled(4), { signature: filled(0, 64), payload });
    expect(openAnswer(asked, most)).not.toBeNull();
    const more = concatBytes(payload, Uint8Array.of(0x20));
    const tooLong = () => sealAnswer(asked, filled(4), { signature: filled(0, 64), payload: more });
    expect(tooLong).toThrow(RangeError);
    expect(openAnswer(asked, concatBytes(most, Uint8Array.of(0)))).toBeNull();
  });
});
