import { hexToBytes } from '@noble/hashes/utils.js';
import { canonicalUuid } from '../messages.ts';

/** The 16 bytes of a UUID. @throws {RangeError} unless it is in lower case with hyphens */
export function uuidBytes(uuid: string): Uint8Array {
  if (!canonicalUuid.safeParse(uuid).success) {
    throw new RangeError('The application id is not a UUID in lower case with hyphens');
  }
  return hexToBytes(uuid.replaceAll('-', ''));
}
