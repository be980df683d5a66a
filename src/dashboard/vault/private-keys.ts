import { subtle } from './subtle.ts';

/** The alphabet and the default mask of the service (services/license/mask.ts): each X is five random bits. */
const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';
export const defaultMask = 'XXXXX-XXXXX-XXXXX-XXXXX-XXXXX';
/** Fewer could be guessed; the service refuses such masks too. */
const leastLetters = 8;

/** A key that was created here: the service gets only its hash and its prefix. */
export interface PrivateKey {
  readonly licenseKey: string;
  readonly licenseKeyHash: string;
  readonly licenseKeyPrefix: string;
}

const lettersOf = (mask: string): number => mask.split('X').length - 1;

/** What is wrong with a mask; null if nothing. */
export function maskProblem(mask: string): string | null {
  if (!/^[\x21-\x7e]{1,128}$/.test(mask)) return 'Use 1 to 128 printable ASCII characters without spaces.';
  return lettersOf(mask) < leastLetters
    ? `Use at least ${leastLetters} X: shorter keys could be guessed.`
    : null;
}

/** How many random bits a key of this mask has. */
export const randomBits = (mask: string): number => 5 * lettersOf(mask);

/** A key of a mask. All letters are equally likely, because 256 is a multiple of 32. */
export function keyOf(mask: string): string {
  const random = crypto.getRandomValues(new Uint8Array(lettersOf(mask)));
  let next = 0;
  return mask.replaceAll('X', () => alphabet.charAt((random[next++] ?? 0) % alphabet.length));
}

/** At most a quarter of the random letters, and at most five, so that the rest stays hard to guess. */
function prefixLength(mask: string): number {
  let shown = Math.min(5, Math.floor(lettersOf(mask) / 4));
  let end = 0;
  while (end < mask.length && (mask[end] !== 'X' || shown-- > 0)) end++;
  return end;
}

async function sha256Hex(text: string): Promise<string> {
  const digest = await subtle().digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Creates license keys in the browser. */
export async function createPrivateKeys(mask: string, amount: number): Promise<PrivateKey[]> {
  const end = prefixLength(mask);
  return Promise.all(
    Array.from({ length: amount }, async () => {
      const licenseKey = keyOf(mask);
      return {
        licenseKey,
        licenseKeyHash: await sha256Hex(licenseKey),
        licenseKeyPrefix: licenseKey.slice(0, end),
      };
    }),
  );
}
