import { hash } from 'node:crypto';

declare const brand: unique symbol;

/** 32 bytes of SHA-256: what is kept of a license key, an API key or a session token. */
export type Sha256 = Uint8Array<ArrayBuffer> & { readonly [brand]: 'Sha256' };

/** SHA-256 of the text's UTF-8 bytes. */
export function sha256(text: string): Sha256 {
  return new Uint8Array(hash('sha256', text, 'buffer')) as Sha256;
}
