import { randomBytes } from '../lib/random-bytes.ts';
import { type Sha256, sha256 } from './hash.ts';

/** Base32 (RFC 4648): neither 0 nor 1, which look like letters. */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const characters = 16;
const groupLength = 4;

/** Generates a code of 80 random bits, such as `ABCD-EFGH-IJKL-MNOP`: too many to guess, so a fast hash is enough. */
export function createRecoveryCode(): string {
  // 256 is a multiple of 32, so each character is equally likely.
  const text = Array.from(randomBytes(characters), (byte) => alphabet.charAt(byte % alphabet.length)).join(
    '',
  );
  return (text.match(new RegExp(`.{${groupLength}}`, 'g')) ?? []).join('-');
}

/** SHA-256 of a code as it may be typed: in any letter case, with or without hyphens and spaces. */
export const recoveryCodeHash = (typed: string): Sha256 => sha256(typed.replace(/[\s-]/g, '').toUpperCase());
