import { sha256 } from '@noble/hashes/sha2.js';
import { utf8 } from '../../protocol/bytes.ts';

/** Pseudorandom bytes that are the same in every run: SHA-256 of a name and a counter. */
export function fixedBytes(name: string, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let offset = 0; offset < length; offset += 32) {
    bytes.set(sha256(utf8(`latchkey vector ${name} ${offset}`)).subarray(0, length - offset), offset);
  }
  return bytes;
}

/** A copy with one flipped bit. */
export function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  const flipped = Uint8Array.from(bytes);
  const index = bit >> 3;
  flipped[index] = (flipped[index] ?? 0) ^ (1 << (bit & 7));
  return flipped;
}
