import { type KeyObject, sign } from 'node:crypto';

/** Where the bare program signs, and does nothing else. */
export const signaturesPath = '/signatures';
/** Signatures of one request: so many that what HTTP costs is none of it to speak of. */
export const signaturesEach = 500;
/** About what an answer's signature covers. */
const message = Buffer.alloc(300);

/** Signs over and over. */
export function makeSignatures(privateKey: KeyObject): string {
  let last = sign(null, message, privateKey);
  for (let made = 1; made < signaturesEach; made += 1) last = sign(null, message, privateKey);
  return JSON.stringify({ made: signaturesEach, lastB64: last.toString('base64') });
}
