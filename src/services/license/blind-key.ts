import { z } from 'zod';
import { type Sha256, sha256 } from '../../crypto/hash.ts';
import { decodeBase64 } from '../../protocol/base64.ts';
import { text } from '../fields.ts';

/** SHA-256 of a key's UTF-8 text. */
export const licenseKeyHash = z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal characters');

/** The first characters of a key, to identify it in a list. */
export const licenseKeyPrefix = text({ min: 1, max: 64 });

/** A note, encrypted in the browser. */
export const noteCiphertextB64 = z
  .string()
  .max(8192)
  .refine((note) => decodeBase64(note) !== null, 'must be standard base64 with padding');

/** An issue for a key whose prefix is the whole key. */
export const wholeKeyAsPrefix = {
  path: ['licenseKeyPrefix'],
  message: 'must not be the whole key, which the service must not know',
};

/** Whether a text is the key of this hash. */
export const isKeyOfHash = (hexHash: string, key: string): boolean =>
  Buffer.from(sha256(key)).toString('hex') === hexHash.toLowerCase();

/** The bytes of a hash that `licenseKeyHash` has accepted. */
export const hashFromHex = (hexHash: string): Sha256 => new Uint8Array(Buffer.from(hexHash, 'hex')) as Sha256;
