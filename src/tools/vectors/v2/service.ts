import { concatBytes } from '../../../protocol/bytes.ts';
import { signBytes } from '../../../protocol/signature.ts';
import { type ServiceKey, signedStatement, statementBody } from '../../../protocol/v2/key-statement.ts';
import { appId, now, seed } from '../exchange.ts';
import { fixedBytes } from '../material.ts';
import { keyPairOf } from './x25519.ts';

// The application and the clock are those of version 1's vectors. Here is what version 2 adds: the service's key.

export const keyPair = keyPairOf(fixedBytes('v2 service key', 32));
export const serviceKey: ServiceKey = {
  notBefore: now - 3600,
  notAfter: now - 3600 + 3 * 86_400,
  keyId: 7,
  publicKey: keyPair.publicKey,
};

/** The key that replaces it. */
export const newerKey: ServiceKey = {
  notBefore: serviceKey.notBefore + 86_400,
  notAfter: serviceKey.notAfter + 86_400,
  keyId: 8,
  publicKey: keyPairOf(fixedBytes('v2 newer service key', 32)).publicKey,
};

/** The statement with this body, signed for this application. */
export const signStatement = (body: Uint8Array, { signedAppId = appId, signingSeed = seed } = {}) =>
  concatBytes(signBytes(signedStatement(signedAppId, body), signingSeed), body);

export const statementOf = (key: ServiceKey): Uint8Array => signStatement(statementBody(key));
