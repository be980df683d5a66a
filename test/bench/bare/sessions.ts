import { hkdfSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { sessionKeyLabel } from '../../../src/protocol/constants.ts';
import type { BareMaterial } from './material.ts';

/**
 * The oldest goes when another one comes. More than are opened in the minutes for which a driver uses its own, while
 * handshakes are measured too.
 */
const mostSessions = 1_000_000;

export type BareSessions = Map<string, Buffer>;

/** The least that a handshake takes (SPEC §3, §4): two random values, the key, a signature, and a note of the session. */
export function handshake(
  body: string,
  sessions: BareSessions,
  privateKey: KeyObject,
  { appId, sessionIdBytes }: BareMaterial,
): string {
  const { clientNonceB64 } = JSON.parse(body);
  const random = randomBytes(64 + sessionIdBytes);
  const serverNonce = random.subarray(0, 32);
  const salt = random.subarray(32, 64);
  const sessionId = random.toString('base64url', 64);
  const keyingMaterial = Buffer.concat([Buffer.from(clientNonceB64, 'base64'), serverNonce]);
  if (sessions.size >= mostSessions) {
    const [oldest = ''] = sessions.keys();
    sessions.delete(oldest);
  }
  sessions.set(sessionId, Buffer.from(hkdfSync('sha256', keyingMaterial, salt, sessionKeyLabel + appId, 32)));
  // Members in the order of canonical JSON, whose form JSON.stringify then writes (RFC 8785).
  const signed = {
    appId,
    hkdfSaltB64: salt.toString('base64'),
    serverNonceB64: serverNonce.toString('base64'),
    sessionId,
    timestamp: Math.floor(Date.now() / 1000),
    v: 1,
  };
  const signature = sign(null, Buffer.from(JSON.stringify(signed)), privateKey);
  const { appId: _, ...answer } = signed;
  return JSON.stringify({ success: true, ...answer, signatureB64: signature.toString('base64') });
}
