import type { Agreement } from './x25519-script.ts';

/**
 * Agrees on a shared point with a fresh ephemeral key pair, by Web Crypto where it has X25519: its private key never
 * reaches JavaScript. Elsewhere, such as on pages without https, by JavaScript.
 * @param recipientKey 32 bytes
 * @returns null if the point would be zero
 */
export async function agree(recipientKey: Uint8Array): Promise<Agreement | null> {
  const agreement = await agreeByPlatform(recipientKey);
  if (agreement !== null) return agreement;
  // Loaded only where it is needed.
  const { agreeByScript } = await import('./x25519-script.ts');
  return agreeByScript(recipientKey);
}

const algorithm = { name: 'X25519' };

/** Null where the platform has no X25519, and for a key of small order: the code in JavaScript then decides. */
async function agreeByPlatform(recipientKey: Uint8Array): Promise<Agreement | null> {
  try {
    const { subtle } = globalThis.crypto;
    const pair = await subtle.generateKey(algorithm, false, ['deriveBits']);
    if (!('privateKey' in pair)) return null;
    const peer = await subtle.importKey('raw', Uint8Array.from(recipientKey), algorithm, false, []);
    const [encapsulatedKey, sharedPoint] = await Promise.all([
      subtle.exportKey('raw', pair.publicKey),
      subtle.deriveBits({ ...algorithm, public: peer }, pair.privateKey, 256),
    ]);
    return { encapsulatedKey: new Uint8Array(encapsulatedKey), sharedPoint: new Uint8Array(sharedPoint) };
  } catch {
    return null;
  }
}
