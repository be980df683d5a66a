import { hkdfSync } from 'node:crypto';
import { sessionKeyBytes, sessionKeyLabel } from '../protocol/constants.ts';
import type { SessionKeyInput } from '../protocol/key-schedule.ts';

/** Derives a session's AES-256 key (SPEC §4) with Node's HKDF; same result as the protocol's portable `deriveSessionKey`. */
export function deriveSessionKey({ clientNonce, serverNonce, salt, appId }: SessionKeyInput): Uint8Array {
  const keyingMaterial = Buffer.concat([clientNonce, serverNonce]);
  return new Uint8Array(hkdfSync('sha256', keyingMaterial, salt, sessionKeyLabel + appId, sessionKeyBytes));
}
