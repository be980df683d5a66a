import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { expand, extract } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, equalBytes, requireLength, utf8 } from '../bytes.ts';
import { signatureBytes } from '../constants.ts';
import { isWellFormedText } from '../text.ts';
import {
  aeadId,
  answerTag,
  kdfId,
  kemId,
  keyBytes,
  maxAnswerBytes,
  maxRequestBytes,
  requestMediaType,
} from './constants.ts';
import { type HpkeContext, openChaCha } from './hpke.ts';
import { requireKeyId } from './key-id.ts';
import { uuidBytes } from './uuid-bytes.ts';

const headerBytes = 7;
const tagBytes = 16;
const nonceBytes = 32;
const paddingUnit = 256;
const space = 0x20;

/** The parts of a request's body. */
export interface RequestParts {
  readonly keyId: number;
  readonly encapsulatedKey: Uint8Array;
  readonly ciphertext: Uint8Array;
}

function headerOf(keyId: number): Uint8Array {
  requireKeyId(keyId);
  return concatBytes(Uint8Array.of(keyId), kemId, kdfId, aeadId);
}

/** The `info` of a request's encryption, as in RFC 9458 §4.3. */
export const requestInfo = (keyId: number): Uint8Array =>
  concatBytes(utf8(`${requestMediaType} request\0`), headerOf(keyId));

/** Composes the body of a request. @throws {RangeError} if it is longer than a server accepts */
export function requestBytes({ keyId, encapsulatedKey, ciphertext }: RequestParts): Uint8Array {
  requireLength(encapsulatedKey, keyBytes, 'The encapsulated key');
  return atMost(maxRequestBytes, concatBytes(headerOf(keyId), encapsulatedKey, ciphertext));
}

function atMost(length: number, message: Uint8Array): Uint8Array {
  if (message.length > length)
    throw new RangeError(`A message has at most ${length} bytes, not ${message.length}`);
  return message;
}

/** Takes the body of a request apart; null if its length or its suite is wrong. */
export function readRequest(body: Uint8Array): RequestParts | null {
  if (body.length < headerBytes + keyBytes + tagBytes || body.length > maxRequestBytes) return null;
  const [keyId = 0] = body;
  if (!equalBytes(headerOf(keyId), body.subarray(0, headerBytes))) return null;
  return {
    keyId,
    encapsulatedKey: body.subarray(headerBytes, headerBytes + keyBytes),
    ciphertext: body.subarray(headerBytes + keyBytes),
  };
}

/**
 * Pads a JSON text with spaces to a multiple of 256 bytes, so that its length tells little.
 * @throws {RangeError} if it has a lone surrogate, which UTF-8 cannot represent
 */
export function padded(json: string): Uint8Array {
  if (!isWellFormedText(json)) throw new RangeError('The text has NUL or a lone surrogate');
  const text = utf8(json);
  const bytes = new Uint8Array(Math.ceil(text.length / paddingUnit) * paddingUnit).fill(space);
  bytes.set(text);
  return bytes;
}

/** What the signature of an answer covers: the tag, the application, the hash of the whole request, and the payload. */
export const signedAnswer = (appId: string, request: Uint8Array, payload: Uint8Array): Uint8Array =>
  concatBytes(answerTag, uuidBytes(appId), sha256(request), payload);

/** What an answer is encrypted under: the secret of its request's context, and the request's encapsulated key. */
export interface AnswerSecret {
  readonly context: Pick<HpkeContext, 'exportSecret'>;
  readonly encapsulatedKey: Uint8Array;
}

/**
 * Encrypts a signed answer (RFC 9458 §4.4).
 * @param nonce 32 random bytes, fresh for every answer
 * @throws {RangeError} if it is longer than a client accepts
 */
export function sealAnswer(
  of: AnswerSecret,
  nonce: Uint8Array,
  { signature, payload }: { readonly signature: Uint8Array; readonly payload: Uint8Array },
): Uint8Array {
  requireLength(nonce, nonceBytes, 'The response nonce');
  requireLength(signature, signatureBytes, 'The signature');
  const { key, iv } = answerKeys(of, nonce);
  const ciphertext = chacha20poly1305(key, iv).encrypt(concatBytes(signature, payload));
  return atMost(maxAnswerBytes, concatBytes(nonce, ciphertext));
}

/** Decrypts an answer to one's own request; null if it is not authentic. The signature is not verified. */
export function openAnswer(
  of: AnswerSecret,
  body: Uint8Array,
): { readonly signature: Uint8Array; readonly payload: Uint8Array } | null {
  if (body.length < nonceBytes + signatureBytes + tagBytes || body.length > maxAnswerBytes) return null;
  const { key, iv } = answerKeys(of, body.subarray(0, nonceBytes));
  const plaintext = openChaCha(key, iv, body.subarray(nonceBytes));
  if (plaintext === null) return null;
  return { signature: plaintext.subarray(0, signatureBytes), payload: plaintext.subarray(signatureBytes) };
}

function answerKeys({ context, encapsulatedKey }: AnswerSecret, nonce: Uint8Array) {
  const secret = context.exportSecret(utf8(`${requestMediaType} response`), keyBytes);
  const prk = extract(sha256, secret, concatBytes(encapsulatedKey, nonce));
  return { key: expand(sha256, prk, utf8('key'), keyBytes), iv: expand(sha256, prk, utf8('nonce'), 12) };
}
