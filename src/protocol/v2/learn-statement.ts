import { readStatement, type ServiceKey } from './key-statement.ts';

export interface StatementReader {
  readonly appId: string;
  /** The application's Ed25519 key. */
  readonly publicKey: Uint8Array;
  /** The key that the client uses now; null if it has none. */
  readonly held: Pick<ServiceKey, 'notBefore'> | null;
}

/**
 * Reads a key statement for a client that may hold one already. The client's clock is not consulted.
 * @returns null if it is not a statement for this application, or is older than the one held: an attacker with an old
 *   private key could otherwise move clients back to that key
 */
export function learnStatement(
  bytes: Uint8Array,
  { appId, publicKey, held }: StatementReader,
): ServiceKey | null {
  const key = readStatement(bytes, appId, publicKey);
  return key === null || (held !== null && key.notBefore < held.notBefore) ? null : key;
}
