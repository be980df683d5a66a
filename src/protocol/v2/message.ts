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
import type { HpkeContext } from './hpke.ts';
import { requireKeyId } from './key-id.ts';
import { noblePrimitives, type Primitives } from './primitives.ts';
import { uuidBytes } from './uuid-bytes.ts';

const headerBytes = 7;
const tagBytes = 16;
/** Bytes of the random nonce that an answer begins with. */
export const responseNonceBytes = 32;
const hashBytes = 32;
const paddingUnit = 256;
/** A request without any plaintext. */
const minRequestBytes = headerBytes + keyBytes + tagBytes;
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

/** Whether the body of a request is as long as a request can be. */
export const isRequestLength = (length: number): boolean =>
  length >= minRequestBytes && length <= maxRequestBytes;

/** Takes the body of a request apart; null if its length or its suite is wrong. */
export function readRequest(body: Uint8Array): RequestParts | null {
  if (!isRequestLength(body.length)) return null;
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

/**
 * What the signature of an answer covers: the tag, the application, the SHA-256 of the request's whole body, and the payload.
 * @throws {RangeError} if the hash is not 32 bytes
 */
export function signedAnswer(appId: string, requestSha256: Uint8Array, payload: Uint8Array): Uint8Array {
  requireLength(requestSha256, hashBytes, 'The hash of the request');
  return concatBytes(answerTag, uuidBytes(appId), requestSha256, payload);
}

/** What an answer is encrypted under: the secret of its request's context, and the request's encapsulated key. */
export interface AnswerSecret {
  readonly context: Pick<HpkeContext, 'exportSecret'>;
  readonly encapsulatedKey: Uint8Array;
  /** Default: those that run everywhere. */
  readonly primitives?: Primitives;
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
  requireLength(nonce, responseNonceBytes, 'The response nonce');
  requireLength(signature, signatureBytes, 'The signature');
  const { key, iv, primitives } = answerKeys(of, nonce);
  const ciphertext = primitives.seal(key, iv, concatBytes(signature, payload));
  return atMost(maxAnswerBytes, concatBytes(nonce, ciphertext));
}

/** Decrypts an answer to one's own request; null if it is not authentic. The signature is not verified. */
export function openAnswer(
  of: AnswerSecret,
  body: Uint8Array,
): { readonly signature: Uint8Array; readonly payload: Uint8Array } | null {
  if (body.length < responseNonceBytes + signatureBytes + tagBytes || body.length > maxAnswerBytes)
    return null;
  const { key, iv, primitives } = answerKeys(of, body.subarray(0, responseNonceBytes));
  const plaintext = primitives.open(key, iv, body.subarray(responseNonceBytes));
  if (plaintext === null) return null;
  return { signature: plaintext.subarray(0, signatureBytes), payload: plaintext.subarray(signatureBytes) };
}

const responseLabel = utf8(`${requestMediaType} response`);
const keyLabel = utf8('key');
const nonceLabel = utf8('nonce');

function answerKeys(
  { context, encapsulatedKey, primitives = noblePrimitives }: AnswerSecret,
  nonce: Uint8Array,
) {
  const secret = context.exportSecret(responseLabel, keyBytes);
  const prk = primitives.extract(concatBytes(encapsulatedKey, nonce), secret);
  return {
    key: primitives.expand(prk, keyLabel, keyBytes),
    iv: primitives.expand(prk, nonceLabel, 12),
    primitives,
  };
}
