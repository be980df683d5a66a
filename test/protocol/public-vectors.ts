import { existsSync, readFileSync } from 'node:fs';
import * as z from 'zod';

/** Public test vectors, kept beside the repository and not in it. */
const folder = new URL('../../../shared/vectors/', import.meta.url);

export const havePublicVectors = existsSync(folder);
if (!havePublicVectors) {
  process.stderr.write('Skipped: the public test vectors (../shared/vectors) are not here.\n');
}

export function readPublicVector(path: string): string {
  return readFileSync(new URL(path, folder), 'utf8');
}

const hex = z.string().transform((text) => Uint8Array.from(Buffer.from(text, 'hex')));
const result = z.enum(['valid', 'invalid']);
const file = <Group extends z.ZodType>(group: Group) => z.object({ testGroups: z.array(group) });

/** The Wycheproof files, with bytes for hex. */
export const wycheproof = {
  ed25519: () =>
    file(
      z.object({
        publicKey: z.object({ pk: hex }),
        tests: z.array(z.object({ tcId: z.number(), msg: hex, sig: hex, result })),
      }),
    ).parse(JSON.parse(readPublicVector('wycheproof/ed25519_test.json'))).testGroups,
  aesGcm: () =>
    file(
      z.object({
        ivSize: z.number(),
        keySize: z.number(),
        tagSize: z.number(),
        tests: z.array(
          z.object({ tcId: z.number(), key: hex, iv: hex, aad: hex, msg: hex, ct: hex, tag: hex, result }),
        ),
      }),
    ).parse(JSON.parse(readPublicVector('wycheproof/aes_gcm_test.json'))).testGroups,
  hkdf: () =>
    file(
      z.object({
        tests: z.array(
          z.object({
            tcId: z.number(),
            ikm: hex,
            salt: hex,
            info: hex,
            size: z.number(),
            okm: hex,
            result,
          }),
        ),
      }),
    ).parse(JSON.parse(readPublicVector('wycheproof/hkdf_sha256_test.json'))).testGroups,
};
