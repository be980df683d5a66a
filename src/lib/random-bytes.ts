import { randomFillSync } from 'node:crypto';

const poolSize = 4096;
let pool = Buffer.alloc(0);

/**
 * Returns cryptographically random bytes from a pool, because generating a few at a time is slow. No byte is returned
 * twice, and a pool is never overwritten.
 * @param length at most 256
 */
export function randomBytes(length: number): Buffer {
  if (length > pool.length) pool = randomFillSync(Buffer.allocUnsafeSlow(poolSize));
  const bytes = pool.subarray(0, length);
  pool = pool.subarray(length);
  return bytes;
}
