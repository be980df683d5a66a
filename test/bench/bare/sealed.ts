import { createCipheriv, createDecipheriv, type KeyObject, randomBytes, sign } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const tagLength = { authTagLength: 16 };

/** The outer body of a sealed request. */
export interface Envelope {
  readonly sessionId: string;
  readonly ivB64: string;
  readonly ciphertextB64: string;
  readonly tagB64: string;
}

/** The inner request of an envelope. @throws {Error} when it does not open */
export function open({ ivB64, ciphertextB64, tagB64 }: Envelope, key: Buffer): string {
  const decipher = createDecipheriv(algorithm, key, Buffer.from(ivB64, 'base64'), tagLength);
  decipher.setAuthTag(Buffer.from(tagB64, 'base64'));
  const plaintext = decipher.update(ciphertextB64, 'base64', 'utf8');
  return plaintext + decipher.final('utf8');
}

/** Signs an inner answer and seals what was signed (SPEC §7); its members must stand in canonical order. */
export function seal(inner: object, sessionId: string, key: Buffer, privateKey: KeyObject): string {
  const bytes = Buffer.from(JSON.stringify(inner));
  const signature = sign(null, bytes, privateKey);
  const iv = randomBytes(12);
  const cipher = createCipheriv(algorithm, key, iv, tagLength);
  const ciphertext = cipher.update(bytes, undefined, 'base64') + cipher.final('base64');
  return JSON.stringify({
    sessionId,
    ivB64: iv.toString('base64'),
    ciphertextB64: ciphertext,
    tagB64: cipher.getAuthTag().toString('base64'),
    signatureB64: signature.toString('base64'),
  });
}
