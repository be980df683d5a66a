import { concatBytes, equalBytes, requireLength } from '../bytes.ts';
import { signatureBytes } from '../constants.ts';
import { verifyBytes } from '../signature.ts';
import { aeadId, kdfId, kemId, keyBytes, keyTag, statementBytes } from './constants.ts';
import { requireKeyId } from './key-id.ts';
import { uuidBytes } from './uuid-bytes.ts';

/** The service's encryption key and its period of validity, in seconds since the Unix epoch. */
export interface ServiceKey {
  readonly notBefore: number;
  readonly notAfter: number;
  /** 0 to 255; names the key in requests. */
  readonly keyId: number;
  /** X25519, 32 bytes. */
  readonly publicKey: Uint8Array;
}

const symmetricSuites = concatBytes(Uint8Array.of(0x00, 0x04), kdfId, aeadId);

/**
 * The bytes of a statement after its signature: the period, then a key configuration of RFC 9458 §3.1.
 * @throws {RangeError} if a value does not fit into its bytes, or the period does not end after it begins
 */
export function statementBody({ notBefore, notAfter, keyId, publicKey }: ServiceKey): Uint8Array {
  requireLength(publicKey, keyBytes, 'The public key');
  requireKeyId(keyId);
  if (!isPeriod(notBefore, notAfter)) throw new RangeError('The period of the key is not valid');
  const period = new DataView(new ArrayBuffer(16));
  period.setBigUint64(0, BigInt(notBefore));
  period.setBigUint64(8, BigInt(notAfter));
  return concatBytes(new Uint8Array(period.buffer), Uint8Array.of(keyId), kemId, publicKey, symmetricSuites);
}

/** What the signature of a statement covers: the tag, the application, and the body. */
export const signedStatement = (appId: string, body: Uint8Array): Uint8Array =>
  concatBytes(keyTag, uuidBytes(appId), body);

/**
 * Reads a key statement.
 * @param publicKey the application's Ed25519 key
 * @returns null unless it is 121 bytes with the one suite, and signed for this application
 */
export function readStatement(bytes: Uint8Array, appId: string, publicKey: Uint8Array): ServiceKey | null {
  if (bytes.length !== statementBytes) return null;
  const body = bytes.subarray(signatureBytes);
  if (!verifyBytes(bytes.subarray(0, signatureBytes), signedStatement(appId, body), publicKey)) return null;
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const key: ServiceKey = {
    notBefore: Number(view.getBigUint64(0)),
    notAfter: Number(view.getBigUint64(8)),
    keyId: view.getUint8(16),
    publicKey: body.slice(19, 19 + keyBytes),
  };
  if (!isPeriod(key.notBefore, key.notAfter)) return null;
  // The body is well-formed exactly if this key has the same one: it contains the constants of the suite.
  return equalBytes(statementBody(key), body) ? key : null;
}

const isPeriod = (notBefore: number, notAfter: number): boolean =>
  Number.isSafeInteger(notBefore) && Number.isSafeInteger(notAfter) && 0 <= notBefore && notBefore < notAfter;
