import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  defaultMask,
  keyPrefix,
  licenseMask,
  maskWarning,
  mintKeys,
} from '../../src/services/license/mask.ts';

const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const accepts = (mask: unknown) => licenseMask.safeParse(mask).success;
const letters = (mask: string) => mask.split('X').length - 1;

/** Valid masks: printable ASCII with eight or more X at random places. */
const anyMask = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: fc.constant('X') },
      { weight: 1, arbitrary: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) },
    ),
    {
      minLength: 8,
      maxLength: 128,
    },
  )
  .map((parts) => parts.join(''))
  .filter((mask) => letters(mask) >= 8);

describe('a mask', () => {
  test('has 125 random bits by default, without a warning', () => {
    expect(defaultMask).toBe('XXXXX-XXXXX-XXXXX-XXXXX-XXXXX');
    expect(accepts(defaultMask)).toBe(true);
    expect(maskWarning(defaultMask)).toBeNull();
  });

  test('under 40 random bits is refused', () => {
    expect(accepts('XXXXXXX')).toBe(false);
    expect(accepts('XXXXXXX-PRODUCT-2026')).toBe(false);
    expect(accepts('XXXXXXXX')).toBe(true);
    expect(licenseMask.safeParse('KEY').error?.issues[0]?.message).toContain('8 X');
  });

  test('under 64 random bits is accepted with a warning that states the number', () => {
    expect(maskWarning('XXXXXXXX')).toContain('40 random bits');
    expect(maskWarning('X'.repeat(12))).toContain('60 random bits');
    expect(maskWarning('X'.repeat(13))).toBeNull();
  });

  test('is 1 to 128 printable ASCII characters without spaces', () => {
    const random = 'XXXXXXXX';
    expect(accepts(`${random}${'-'.repeat(120)}`)).toBe(true);
    for (const mask of [
      '',
      `${random}${'-'.repeat(121)}`,
      `${random} `,
      `${random}\n`,
      `${random}\t`,
      `${random}\0`,
      `é${random}`,
      `${random}\x7f`,
      8,
      null,
    ]) {
      expect(accepts(mask), JSON.stringify(mask)).toBe(false);
    }
  });
});

describe('minting', () => {
  test('replaces each X by one of 32 characters, and keeps the rest', () => {
    fc.assert(
      fc.property(anyMask, (mask) => {
        const [key = ''] = mintKeys(mask, 1);
        expect(key).toHaveLength(mask.length);
        for (const [index, character] of [...mask].entries()) {
          if (character === 'X') expect(alphabet).toContain(key[index]);
          else expect(key[index]).toBe(character);
        }
      }),
    );
  });

  test('generates as many keys as requested, all different', () => {
    const keys = mintKeys(defaultMask, 10_000);
    expect(keys).toHaveLength(10_000);
    expect(new Set(keys).size).toBe(10_000);
    expect(mintKeys(defaultMask, 0)).toEqual([]);
  });

  test('uses every letter of the alphabet at every place', () => {
    const keys = mintKeys('XXXXXXXX', 4_000);
    for (let place = 0; place < 8; place++) {
      const seen = new Set(keys.map((key) => key[place]));
      expect([...seen].sort().join('')).toBe(alphabet);
    }
  });
});

describe('the stored prefix', () => {
  test('is the first group of the default mask', () => {
    const [key = ''] = mintKeys(defaultMask, 1);
    expect(keyPrefix(key, defaultMask)).toBe(key.slice(0, 6));
  });

  test('reveals at most five random characters and at most a quarter of them', () => {
    fc.assert(
      fc.property(anyMask, (mask) => {
        const [key = ''] = mintKeys(mask, 1);
        const prefix = keyPrefix(key, mask);
        expect(key.startsWith(prefix)).toBe(true);
        const told = letters(mask.slice(0, prefix.length));
        expect(told).toBeLessThanOrEqual(5);
        expect(told).toBeLessThanOrEqual(letters(mask) / 4);
      }),
    );
  });

  test('of a short mask reveals two characters of eight', () => {
    expect(keyPrefix('AB23CDEF', 'XXXXXXXX')).toBe('AB');
    expect(keyPrefix('APP-AB23CDEF', 'APP-XXXXXXXX')).toBe('APP-AB');
  });
});
