import { hexToBytes } from '@noble/hashes/utils.js';
import { requireLength } from '../bytes.ts';

/** The 16 bytes of a UUID in lower case with hyphens. @throws {RangeError | Error} if it is malformed */
export function uuidBytes(uuid: string): Uint8Array {
  const bytes = hexToBytes(uuid.replaceAll('-', ''));
  requireLength(bytes, 16, 'The UUID');
  return bytes;
}
