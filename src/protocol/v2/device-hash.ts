import { sha256 } from '@noble/hashes/sha2.js';
import { encodeBase64Url } from '../base64.ts';
import { concatBytes, utf8 } from '../bytes.ts';
import { canonicalUuid } from '../messages.ts';

const label = utf8('latchkey-device\0');

/**
 * Names a device without its HWID: SHA-256 of `latchkey-device`, a zero byte, the application's id as text, and the HWID,
 * in base64url. Leases travel as files and QR codes, so they contain this instead of the HWID. The id makes it differ
 * between applications; its fixed length keeps it apart from the HWID.
 * @throws {RangeError} unless the id is a UUID in lower case
 */
export function deviceHash(appId: string, hwid: string): string {
  if (!canonicalUuid.safeParse(appId).success) throw new RangeError('The application id is not a UUID');
  return encodeBase64Url(sha256(concatBytes(label, utf8(appId), utf8(hwid))));
}
