import { hkdfSync } from 'node:crypto';
import { sessionKeyBytes, sessionKeyLabel } from '../protocol/constants.ts';
import type { SessionKeyInput } from '../protocol/key-schedule.ts';

/** The AES-256 key of a session (SPEC §4), the same as the protocol's `deriveSessionKey` by Node's own HKDF. */
export function deriveSessionKey({ clientNonce, serverNonce, salt, appId }: SessionKeyInput): Uint8Array {
  const keyingMaterial = Buffer.concat([clientNonce, serverNonce]);
  return new Uint8Array(hkdfSync('sha256', keyingMaterial, salt, sessionKeyLabel + appId, sessionKeyBytes));
}
