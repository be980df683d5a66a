import { randomBytes } from 'node:crypto';
import { z } from 'zod';

/** 32 letters and digits without look-alikes (no 0 O 1 I), so that each `X` of a mask is exactly five random bits. */
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const bitsPerLetter = 5;
const minBits = 40;
const recommendedBits = 64;

/** 125 random bits. */
export const defaultMask = 'XXXXX-XXXXX-XXXXX-XXXXX-XXXXX';

const randomBits = (mask: string): number => bitsPerLetter * mask.split('X').length - bitsPerLetter;

/** A key's pattern: each `X` is replaced with a random character; other characters are kept. */
export const licenseMask = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters without spaces')
  .refine((mask) => randomBits(mask) >= minBits, {
    message: `must contain at least ${minBits / bitsPerLetter} X (random characters), because shorter keys could be guessed`,
  });

/** Warns about keys that could be guessed by someone with a stolen database and enough time; null for strong masks. */
export function maskWarning(mask: string): string | null {
  const bits = randomBits(mask);
  if (bits >= recommendedBits) return null;
  return `This mask gives ${bits} random bits per key; ${recommendedBits} or more (13 X) are recommended.`;
}

/** Generates keys; all characters are equally likely, because 256 is a multiple of 32. */
export function mintKeys(mask: string, amount: number): string[] {
  const letters = mask.split('X').length - 1;
  const random = randomBytes(letters * amount);
  let next = 0;
  return Array.from({ length: amount }, () =>
    mask.replaceAll('X', () => alphabet.charAt((random[next++] ?? 0) % alphabet.length)),
  );
}

/**
 * The prefix of a key that is stored in plaintext to tell keys apart. It contains at most a quarter of the random
 * characters, and at most five, so that the rest stays hard to guess.
 */
export function keyPrefix(key: string, mask: string): string {
  let shown = Math.min(5, Math.floor((mask.split('X').length - 1) / 4));
  let end = 0;
  while (end < mask.length && (mask[end] !== 'X' || shown-- > 0)) end++;
  return key.slice(0, end);
}
