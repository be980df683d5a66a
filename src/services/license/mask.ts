import { randomBytes } from 'node:crypto';
import { z } from 'zod';

/** 32 letters and digits without look-alikes (no 0 O 1 I), so that each `X` of a mask is exactly five random bits. */
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
const bitsPerLetter = 5;
const leastBits = 40;
const comfortableBits = 64;

/** 125 random bits. */
export const defaultMask = 'XXXXX-XXXXX-XXXXX-XXXXX-XXXXX';

const randomBits = (mask: string): number => bitsPerLetter * mask.split('X').length - bitsPerLetter;

/** A key's pattern: `X` is a random letter, everything else stands for itself. */
export const licenseMask = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 printable ASCII characters without spaces')
  .refine((mask) => randomBits(mask) >= leastBits, {
    message: `must hold at least ${leastBits / bitsPerLetter} X (random characters): fewer could be guessed`,
  });

/** What to tell a developer whose keys could be guessed by someone with a stolen database and time; else null. */
export function maskWarning(mask: string): string | null {
  const bits = randomBits(mask);
  if (bits >= comfortableBits) return null;
  return `This mask gives ${bits} random bits a key; ${comfortableBits} or more (13 X) are recommended.`;
}

/** Fresh keys of this pattern, from the system's random source; 256 is a multiple of 32, so no letter is likelier. */
export function mintKeys(mask: string, amount: number): string[] {
  const letters = mask.split('X').length - 1;
  const random = randomBytes(letters * amount);
  let next = 0;
  return Array.from({ length: amount }, () =>
    mask.replaceAll('X', () => alphabet.charAt((random[next++] ?? 0) % alphabet.length)),
  );
}

/**
 * The start of a key that is kept in the clear, to tell keys apart: up to a quarter of its random letters, at most
 * five, so that what stays secret stays hard to guess.
 */
export function keyPrefix(key: string, mask: string): string {
  let shown = Math.min(5, Math.floor((mask.split('X').length - 1) / 4));
  let end = 0;
  while (end < mask.length && (mask[end] !== 'X' || shown-- > 0)) end++;
  return key.slice(0, end);
}
