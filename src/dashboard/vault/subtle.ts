/**
 * Web Crypto, which browsers offer only to pages from `https:` or from this machine.
 * @throws an error that says so
 */
export function subtle(): SubtleCrypto {
  if (crypto.subtle !== undefined) return crypto.subtle;
  throw new Error(
    'Private mode needs encryption in the browser, which works only over https or on localhost.',
  );
}
