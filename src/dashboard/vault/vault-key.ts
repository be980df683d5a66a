import { fromBase64, toBase64 } from './base64.ts';
import { subtle } from './subtle.ts';

/** What the service stores of a vault: it never receives the passphrase or the key. */
export interface VaultCheck {
  readonly vaultSaltB64: string;
  readonly vaultCheckB64: string;
}

/** Of PBKDF2 with SHA-256, as OWASP's Password Storage Cheat Sheet recommends; about half a second. */
const iterations = 600_000;
const ivBytes = 12;

/** The text whose encryption shows whether a passphrase is right. */
const checkText = 'latchkey-vault-v1';

async function deriveKey(passphrase: string, salt: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const material = await subtle().importKey(
    'raw',
    new TextEncoder().encode(passphrase.normalize('NFC')),
    'PBKDF2',
    false,
    ['deriveKey'],
  );
  const parameters = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations };
  // Not extractable: a script could use the key while the page is open, but not take it along.
  return subtle().deriveKey(parameters, material, { name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ]);
}

/** Encrypts a text: base64 of a random IV of 12 bytes, the AES-256-GCM ciphertext, and the tag. */
export async function seal(key: CryptoKey, text: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(ivBytes));
  const sealed = await subtle().encrypt({ name: 'AES-GCM', iv }, key, new TextEncoder().encode(text));
  return toBase64(new Uint8Array([...iv, ...new Uint8Array(sealed)]));
}

/** Decrypts what `seal` has encrypted; null if it was encrypted with another key, or changed. */
export async function open(key: CryptoKey, sealed: string): Promise<string | null> {
  try {
    const bytes = fromBase64(sealed);
    const iv = bytes.subarray(0, ivBytes);
    const text = await subtle().decrypt({ name: 'AES-GCM', iv }, key, bytes.subarray(ivBytes));
    return new TextDecoder('utf-8', { fatal: true }).decode(text);
  } catch {
    return null;
  }
}

/** Creates a vault with a new passphrase. */
export async function createVault(
  passphrase: string,
): Promise<{ readonly key: CryptoKey; readonly check: VaultCheck }> {
  const salt = crypto.getRandomValues(new Uint8Array(16));
  const key = await deriveKey(passphrase, salt);
  return { key, check: { vaultSaltB64: toBase64(salt), vaultCheckB64: await seal(key, checkText) } };
}

/** The key of a vault; null if the passphrase is wrong. */
export async function unlock(
  passphrase: string,
  { vaultSaltB64, vaultCheckB64 }: VaultCheck,
): Promise<CryptoKey | null> {
  const key = await deriveKey(passphrase, fromBase64(vaultSaltB64));
  return (await open(key, vaultCheckB64)) === checkText ? key : null;
}
