import { hash } from 'node:crypto';

declare const brand: unique symbol;

/** A SHA-256 hash, 32 bytes: the stored form of license keys, API keys and session tokens. */
export type Sha256 = Uint8Array<ArrayBuffer> & { readonly [brand]: 'Sha256' };

/** SHA-256 of the text's UTF-8 bytes. */
export function sha256(text: string): Sha256 {
  return new Uint8Array(hash('sha256', text, 'buffer')) as Sha256;
}
