import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from '../../src/protocol/base64.ts';
import { canonicalJson, type JsonValue } from '../../src/protocol/canonical-json.ts';
import { formatEnvelope, openEnvelope, parseEnvelope, sealEnvelope } from '../../src/protocol/envelope.ts';
import { getPublicKey, signBytes, verifyBytes, verifySignatureB64 } from '../../src/protocol/signature.ts';
import { isWellFormedText, wellFormedText } from '../../src/protocol/text.ts';
import { flipBit } from '../../src/tools/vectors/material.ts';

const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const json: fc.Arbitrary<JsonValue> = fc
  .json({ stringUnit: 'binary' })
  .map((text): JsonValue => JSON.parse(text));

/** The same value with the members of every object in another order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([name, member]) => [name, reversed(member)]));
}

describe('base64', () => {
  it('decodes to the same bytes, and encodes like Node.js', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
        expect(encodeBase64Url(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
        expect(decodeBase64(encodeBase64(bytes))).toEqual(bytes);
        expect(decodeBase64Url(encodeBase64Url(bytes))).toEqual(bytes);
      }),
    );
  });

  it('decodes exactly the texts that it encodes', () => {
    const unit = fc.constantFrom(...'ABQgwxyz019+/-_= \n\0é');
    const text = fc.array(unit, { maxLength: 9 }).map((units) => units.join(''));
    let read = 0;
    fc.assert(
      fc.property(text, (candidate) => {
        const standard = Buffer.from(candidate, 'base64').toString('base64') === candidate;
        const urlSafe = Buffer.from(candidate, 'base64url').toString('base64url') === candidate;
        expect(decodeBase64(candidate) !== null).toBe(standard);
        expect(decodeBase64Url(candidate) !== null).toBe(urlSafe);
        if (standard || urlSafe) read++;
      }),
      { numRuns: 5000 },
    );
    expect(read).toBeGreaterThan(50);
  });
});

describe('canonical JSON', () => {
  it('preserves the value, and serializes it again to the same bytes', () => {
    fc.assert(
      fc.property(json, (value) => {
        fc.pre(isWellFormedText(JSON.stringify(value)) && !/\\u[dD][89a-fA-F]/.test(JSON.stringify(value)));
        const text = canonicalJson(value);
        // JSON writes -0 as 0, so the comparison is made after one round.
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  it('equals the output of another implementation', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4, stringUnit: 'grapheme' }), (value) => {
        const read: JsonValue = JSON.parse(JSON.stringify(value));
        expect(canonicalJson(read)).toBe(canonicalize(read));
      }),
      { numRuns: 2000 },
    );
  });

  it('does not depend on the order of members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), (value) => {
        expect(canonicalJson(JSON.parse(JSON.stringify(reversed(value))))).toBe(
          canonicalJson(JSON.parse(JSON.stringify(value))),
        );
      }),
    );
  });

  const circle: Record<string, unknown> = {};
  circle.self = [circle];
  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['an undefined member', { a: 1, b: undefined }],
    ['undefined in an array', [undefined]],
    // biome-ignore lint/suspicious/noSparseArray: this tests a hole
    ['a hole in an array', [1, , 2]],
    ['NaN', Number.NaN],
    ['an infinity', [Number.NEGATIVE_INFINITY]],
    ['a lone surrogate', 'a\ud800'],
    ['a lone surrogate in a name', { '\udc00': 1 }],
    ['a bigint', 1n],
    ['a function member', { toString: () => 'x' }],
    ['a symbol', Symbol('s')],
    ['a symbol member', { a: Symbol('s') }],
    ['a member named by a symbol', { [Symbol('s')]: 1 }],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['an object with toJSON', { toJSON: () => 1 }],
    ['bytes', new Uint8Array(2)],
    ['an object that contains itself', circle],
  ])('refuses %s', (_what, value) => {
    // The parameter's type forbids these; a caller without types can still pass them.
    expect(() => Reflect.apply(canonicalJson, undefined, [value])).toThrow();
  });

  it('accepts one object in two places', () => {
    const shared = { a: 1 };
    expect(canonicalJson([shared, { b: shared }])).toBe('[{"a":1},{"b":{"a":1}}]');
  });
});

describe('sealing', () => {
  it('opens to the sealed text, under a new IV each time', () => {
    fc.assert(
      fc.property(bytesOf(32), fc.uint8Array({ maxLength: 300 }), (key, plaintext) => {
        const first = sealEnvelope(key, plaintext);
        expect(openEnvelope(key, first)).toEqual(plaintext);
        expect(sealEnvelope(key, plaintext).ivB64).not.toBe(first.ivB64);
      }),
    );
  });

  it('refuses any flipped bit of IV, ciphertext, tag and key', () => {
    const part = fc.constantFrom('iv', 'ciphertext', 'tag', 'key' as const);
    const plaintexts = fc.uint8Array({ minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(bytesOf(32), plaintexts, part, fc.nat(), (key, plaintext, which, position) => {
        const raw = parseEnvelope(sealEnvelope(key, plaintext)) ?? expect.fail('not an envelope');
        const turned = (bytes: Uint8Array) => flipBit(bytes, position % (bytes.length * 8));
        const forged =
          which === 'key'
            ? openEnvelope(turned(key), formatEnvelope(raw))
            : openEnvelope(key, formatEnvelope({ ...raw, [which]: turned(raw[which]) }));
        expect(forged).toBeNull();
      }),
    );
  });

  it('throws on a key that is not 32 bytes and an IV that is not 12', () => {
    const envelope = sealEnvelope(new Uint8Array(32), new Uint8Array(1));
    for (const length of [0, 16, 24, 31, 33]) {
      expect(() => sealEnvelope(new Uint8Array(length), new Uint8Array(1))).toThrow(RangeError);
      expect(() => openEnvelope(new Uint8Array(length), envelope)).toThrow(RangeError);
    }
    for (const length of [0, 8, 11, 13, 16]) {
      expect(() => sealEnvelope(new Uint8Array(32), new Uint8Array(1), new Uint8Array(length))).toThrow(
        RangeError,
      );
    }
  });
});

describe('signatures', () => {
  const seed = new Uint8Array(32).fill(5);
  const publicKey = getPublicKey(seed);

  it('are valid for the message, and not with a flipped bit in message, signature or key', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 50 }), fc.nat(), (message, position) => {
        const signature = signBytes(message, seed);
        const turned = (bytes: Uint8Array) => flipBit(bytes, position % (bytes.length * 8));
        expect(verifyBytes(signature, message, publicKey)).toBe(true);
        expect(verifyBytes(turned(signature), message, publicKey)).toBe(false);
        expect(verifyBytes(signature, turned(message), publicKey)).toBe(false);
        expect(verifyBytes(signature, message, turned(publicKey))).toBe(false);
      }),
      { numRuns: 25 },
    );
  });

  it('are checked without an exception for any input', () => {
    for (const bad of [new Uint8Array(), new Uint8Array(65), 'text', null, undefined, 1, {}]) {
      expect(Reflect.apply(verifyBytes, undefined, [bad, new Uint8Array(1), publicKey])).toBe(false);
      expect(Reflect.apply(verifyBytes, undefined, [new Uint8Array(64), bad, publicKey])).toBe(false);
      expect(Reflect.apply(verifyBytes, undefined, [new Uint8Array(64), new Uint8Array(1), bad])).toBe(false);
    }
  });

  it('over a value cover its canonical JSON, in strict base64', () => {
    const signature = encodeBase64(signBytes(new TextEncoder().encode('{"a":1,"b":2}'), seed));
    expect(verifySignatureB64(signature, { b: 2, a: 1 }, publicKey)).toBe(true);
    expect(verifySignatureB64(signature, { b: 2, a: 2 }, publicKey)).toBe(false);
    expect(verifySignatureB64(signature.replaceAll('=', ''), { b: 2, a: 1 }, publicKey)).toBe(false);
    expect(verifySignatureB64(signature, '\ud800', publicKey)).toBe(false);
  });
});

describe('text', () => {
  it('is refused with NUL or a lone surrogate, and accepted otherwise', () => {
    for (const bad of ['\0', 'a\0b', '\ud800', 'a\udfffb', '\udc00\ud800']) {
      expect(wellFormedText.safeParse(bad).success).toBe(false);
    }
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(wellFormedText.safeParse(text).success).toBe(!text.includes('\0'));
      }),
    );
  });
});
