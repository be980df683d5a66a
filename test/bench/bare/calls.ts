import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPublicKey,
  diffieHellman,
  hash,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { aeadId, answerTag, kdfId, kemId, requestMediaType } from '../../../src/protocol/v2/constants.ts';
import { signedStatement, statementBody } from '../../../src/protocol/v2/key-statement.ts';
import { requestInfo } from '../../../src/protocol/v2/message.ts';
import { uuidBytes } from '../../../src/protocol/v2/uuid-bytes.ts';
import { generateKeyPair } from '../key-pair.ts';

// HPKE (RFC 9180) and the answer's encryption (RFC 9458 §4.4), with everything that does not depend on the request
// computed beforehand. The key's id is not looked at, and a small-order key is Node's own error.

const algorithm = 'chacha20-poly1305';
const tagLength = { authTagLength: 16 };
const paddingUnit = 256;

const keyId = 1;
const dayInSeconds = 86_400;
const empty = Buffer.alloc(0);
/** What RFC 5869 §2.3 ends the only block of an expansion with. */
const firstBlock = Buffer.from([1]);
const version = Buffer.from('HPKE-v1');
const kemPrefix = Buffer.concat([version, Buffer.from('KEM'), kemId]);
const suitePrefix = Buffer.concat([version, Buffer.from('HPKE'), kemId, kdfId, aeadId]);

const agreementLabel = Buffer.concat([kemPrefix, Buffer.from('eae_prk')]);
const sharedSecretLabel = Buffer.concat([Buffer.from([0, 32]), kemPrefix, Buffer.from('shared_secret')]);
const secretLabel = Buffer.concat([suitePrefix, Buffer.from('secret')]);
const responseInfo = Buffer.concat([
  Buffer.from([0, 32]),
  suitePrefix,
  Buffer.from(`sec${requestMediaType} response`),
  firstBlock,
]);
const answerKeyInfo = Buffer.concat([Buffer.from('key'), firstBlock]);
const answerNonceInfo = Buffer.concat([Buffer.from('nonce'), firstBlock]);

/** The key that requests are encrypted to, and what is derived from it once. */
export interface BareCallKey {
  readonly privateKey: KeyObject;
  readonly publicKey: Buffer;
  /** What each of the request's secrets is expanded with. */
  readonly keyInfo: Buffer;
  readonly nonceInfo: Buffer;
  readonly exporterInfo: Buffer;
  /** What the text that an answer's signature covers begins with. */
  readonly signedPrefix: Buffer;
  /** The key statement. */
  readonly statement: Buffer;
}

/** Generates a key, and states it as this application does. */
export function createCallKey(appId: string, signingKey: KeyObject): BareCallKey {
  const { privateKey, publicKeyBytes: publicKey } = generateKeyPair();
  const scheduleContext = Buffer.concat([
    Buffer.from([0]),
    hmac(empty, Buffer.concat([suitePrefix, Buffer.from('psk_id_hash')])),
    hmac(empty, Buffer.concat([suitePrefix, Buffer.from('info_hash'), requestInfo(keyId)])),
  ]);
  const now = Math.floor(Date.now() / 1000);
  const body = statementBody({ notBefore: now, notAfter: now + dayInSeconds, keyId, publicKey });
  return {
    privateKey,
    publicKey,
    keyInfo: expansionOf('key', 32, scheduleContext),
    nonceInfo: expansionOf('base_nonce', 12, scheduleContext),
    exporterInfo: expansionOf('exp', 32, scheduleContext),
    signedPrefix: Buffer.concat([answerTag, uuidBytes(appId)]),
    statement: Buffer.concat([sign(null, signedStatement(appId, body), signingKey), body]),
  };
}

function expansionOf(label: string, length: number, scheduleContext: Buffer): Buffer {
  const labelled = [Buffer.from([0, length]), suitePrefix, Buffer.from(label)];
  return Buffer.concat([...labelled, scheduleContext, firstBlock]);
}

function hmac(key: Buffer, content: Buffer): Buffer {
  return createHmac('sha256', key).update(content).digest();
}

/** A request that is open, and what its answer is encrypted with. */
export interface OpenedCall {
  readonly plaintext: string;
  readonly encapsulatedKey: Buffer;
  readonly exporterSecret: Buffer;
}

/** Opens the body of a request. @throws {Error} when it does not open */
export function openCall(body: Buffer, key: BareCallKey): OpenedCall {
  const encapsulatedKey = body.subarray(7, 39);
  const publicKey = createPublicKey({
    key: { kty: 'OKP', crv: 'X25519', x: encapsulatedKey.toString('base64url') },
    format: 'jwk',
  });
  const point = diffieHellman({ privateKey: key.privateKey, publicKey });
  const agreed = hmac(empty, Buffer.concat([agreementLabel, point]));
  const kemInfo = Buffer.concat([sharedSecretLabel, encapsulatedKey, key.publicKey, firstBlock]);
  const secret = hmac(hmac(agreed, kemInfo), secretLabel);
  const nonce = hmac(secret, key.nonceInfo).subarray(0, 12);
  const decipher = createDecipheriv(algorithm, hmac(secret, key.keyInfo), nonce, tagLength);
  decipher.setAuthTag(body.subarray(-16));
  const plaintext = decipher.update(body.subarray(39, -16), undefined, 'utf8');
  decipher.final();
  return { plaintext, encapsulatedKey, exporterSecret: hmac(secret, key.exporterInfo) };
}

/** Signs an answer to the request with this body, and seals it. */
export function sealCall(
  answer: object,
  body: Buffer,
  { encapsulatedKey, exporterSecret }: OpenedCall,
  { signedPrefix }: BareCallKey,
  signingKey: KeyObject,
): Buffer {
  const json = JSON.stringify(answer);
  const length = Math.ceil(Buffer.byteLength(json) / paddingUnit) * paddingUnit;
  const payload = Buffer.alloc(length, ' ');
  payload.write(json);
  const signed = Buffer.concat([signedPrefix, hash('sha256', body, 'buffer'), payload]);
  const signature = sign(null, signed, signingKey);
  const nonce = randomBytes(32);
  const secret = hmac(Buffer.concat([encapsulatedKey, nonce]), hmac(exporterSecret, responseInfo));
  const iv = hmac(secret, answerNonceInfo).subarray(0, 12);
  const cipher = createCipheriv(algorithm, hmac(secret, answerKeyInfo), iv, tagLength);
  return Buffer.concat([
    nonce,
    cipher.update(signature),
    cipher.update(payload),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}
