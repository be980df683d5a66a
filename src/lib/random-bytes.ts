import { randomFillSync } from 'node:crypto';

const poolSize = 4096;
let pool = Buffer.alloc(0);

/**
 * Random bytes of the platform's cryptographic source, drawn by the page: asking it for a dozen at a time costs more
 * than what most of them are for. No byte is handed out twice, and a pool is never written to again.
 * @param length at most 256
 */
export function randomBytes(length: number): Buffer {
  if (length > pool.length) pool = randomFillSync(Buffer.allocUnsafeSlow(poolSize));
  const bytes = pool.subarray(0, length);
  pool = pool.subarray(length);
  return bytes;
}
