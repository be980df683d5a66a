import { hash } from 'node:crypto';

declare const brand: unique symbol;

/** A SHA-256 hash, 32 bytes: the stored form of license keys, API keys and session tokens, and the echo of a request. */
export type Sha256 = Uint8Array<ArrayBuffer> & { readonly [brand]: 'Sha256' };

/** SHA-256 of bytes, or of a text's UTF-8 bytes. */
export function sha256(data: string | Uint8Array): Sha256 {
  return new Uint8Array(hash('sha256', data, 'buffer')) as Sha256;
}
