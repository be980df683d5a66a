import { hexToBytes } from '@noble/hashes/utils.js';

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The 16 bytes of a UUID. @throws {RangeError} unless it is in lower case with hyphens */
export function uuidBytes(uuid: string): Uint8Array {
  if (!form.test(uuid)) throw new RangeError('The application id is not a UUID in lower case with hyphens');
  return hexToBytes(uuid.replaceAll('-', ''));
}
