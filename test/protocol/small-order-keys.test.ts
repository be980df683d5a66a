import { readFileSync } from 'node:fs';
import { Point, verify } from '@noble/ed25519';
import { describe, expect, it } from 'vitest';
import { verifyBytes } from '../../src/protocol/signature.ts';
import { sealedVectors } from './sealed-vectors.ts';

const { p, n: groupOrder } = Point.CURVE();
const littleEndian = (value: bigint) =>
  Uint8Array.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex')).reverse();
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** A point of order 8: any point times the order of the base point leaves its part in the torsion group. */
function torsionGenerator(): Point {
  for (let y = 2n; ; y++) {
    try {
      const point = Point.fromBytes(littleEndian(y));
      const torsion = point
        .multiply(groupOrder / 2n, false)
        .double()
        .add(point);
      if (!torsion.multiply(4n, false).is0()) return torsion;
    } catch {
      // No point has this y.
    }
  }
}

/** Every 32 bytes that a lax reader takes for a point of small order: y or y + p below 2^255, with either sign bit. */
function smallOrderEncodings(): string[] {
  const generator = torsionGenerator();
  const encodings = new Set<string>();
  for (let multiple = 1n; multiple <= 8n; multiple++) {
    const { y } = generator.multiply(multiple, false).toAffine();
    for (const written of [y, y + p].filter((value) => value < 2n ** 255n)) {
      for (const sign of [0n, 1n]) encodings.add(hex(littleEndian(written + (sign << 255n))));
    }
  }
  return [...encodings].sort();
}

/** The lines of SPEC §7 that are 32 bytes in hex. */
function encodingsOfSpec(): string[] {
  const spec = readFileSync(new URL('../../src/protocol/SPEC.md', import.meta.url), 'utf8');
  return [...spec.matchAll(/^([0-9a-f]{64})\b/gm)].map(([, encoding = '']) => encoding).sort();
}

describe('the small-order keys', () => {
  const derived = smallOrderEncodings();

  it('have fourteen encodings: eight points, and six that are not canonical', () => {
    expect(derived).toHaveLength(14);
    const canonical = derived.filter((encoding) => {
      try {
        return hex(Point.fromHex(encoding).toBytes()) === encoding;
      } catch {
        return false;
      }
    });
    expect(canonical).toHaveLength(8);
    for (const encoding of derived) expect(Point.fromHex(encoding, true).isSmallOrder()).toBe(true);
  });

  it('are all listed in SPEC §7, and nothing else is', () => {
    expect(encodingsOfSpec()).toEqual(derived);
  });

  it('are all among the rejected signatures of the vectors', () => {
    const keys = sealedVectors.signature.reject
      .filter(({ why }) => why.includes('small order'))
      .map(({ publicKeyHex }) => hex(publicKeyHex));
    expect([...new Set(keys)].sort()).toEqual(derived);
  });

  it.each(derived)(
    'are refused, where a lax verifier takes one signature for any message: %s',
    (encoding) => {
      const publicKey = Uint8Array.from(Buffer.from(encoding, 'hex'));
      const signature = Uint8Array.from({ length: 64 }, (_, index) => (index === 0 ? 1 : 0));
      for (const message of ['{"code":"OK","v":1}', '{"code":"BANNED","v":1}']) {
        const bytes = new TextEncoder().encode(message);
        expect(verify(signature, bytes, publicKey)).toBe(true);
        expect(verifyBytes(signature, bytes, publicKey)).toBe(false);
      }
    },
  );
});
