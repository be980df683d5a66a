import { concatBytes, requireLength, utf8 } from '../bytes.ts';
import { aeadId, kdfId, kemId, keyBytes } from './constants.ts';
import { noblePrimitives, type Primitives } from './primitives.ts';

// HPKE (RFC 9180) in base mode, with the only suite of version 2. A context is for one message: the sequence is always 0.

const empty = new Uint8Array();
const kemSuite = concatBytes(utf8('KEM'), kemId);
const suite = concatBytes(utf8('HPKE'), kemId, kdfId, aeadId);
const baseMode = Uint8Array.of(0);
const secretBytes = 32;
const nonceBytes = 12;

/** What both sides have after the key agreement. */
export interface KeyAgreement {
  /** The result of X25519. */
  readonly sharedPoint: Uint8Array;
  /** The sender's ephemeral public key (`enc`). */
  readonly encapsulatedKey: Uint8Array;
  readonly recipientKey: Uint8Array;
  /** What `keyScheduleContext` returns for the `info` of this use. */
  readonly scheduleContext: Uint8Array;
}

export interface HpkeContext {
  /** Encrypts the message. Call it once: a second message would use the same nonce. */
  seal(plaintext: Uint8Array): Uint8Array;
  /** Decrypts the message; null if it is not authentic. */
  open(ciphertext: Uint8Array): Uint8Array | null;
  /** Derives a further secret that only both sides know (RFC 9180 §5.3). */
  exportSecret(exporterContext: Uint8Array, length: number): Uint8Array;
}

/**
 * The part of a key schedule that binds it to its use (`key_schedule_context`, RFC 9180 §5.1). It depends on `info` alone,
 * so a server computes it once for each of its keys.
 */
export function keyScheduleContext(info: Uint8Array, primitives: Primitives = noblePrimitives): Uint8Array {
  const { labelledExtract } = labelled(primitives, suite);
  return concatBytes(
    baseMode,
    labelledExtract(empty, 'psk_id_hash', empty),
    labelledExtract(empty, 'info_hash', info),
  );
}

/**
 * Derives a context (RFC 9180 §4.1 and §5.1).
 * @returns null if the shared point is zero, as with a public key of small order (§7.1.4)
 * @throws {RangeError} if a key is not 32 bytes
 */
export function deriveContext(
  { sharedPoint, encapsulatedKey, recipientKey, scheduleContext }: KeyAgreement,
  primitives: Primitives = noblePrimitives,
): HpkeContext | null {
  requireLength(sharedPoint, keyBytes, 'The shared point');
  requireLength(encapsulatedKey, keyBytes, 'The encapsulated key');
  requireLength(recipientKey, keyBytes, "The recipient's key");
  if (isZero(sharedPoint)) return null;
  const kem = labelled(primitives, kemSuite);
  const kemContext = concatBytes(encapsulatedKey, recipientKey);
  const prk = kem.labelledExtract(empty, 'eae_prk', sharedPoint);
  const sharedSecret = kem.labelledExpand(prk, 'shared_secret', kemContext, secretBytes);
  return scheduleKeys(sharedSecret, scheduleContext, primitives);
}

function scheduleKeys(
  sharedSecret: Uint8Array,
  scheduleContext: Uint8Array,
  primitives: Primitives,
): HpkeContext {
  const { labelledExtract, labelledExpand } = labelled(primitives, suite);
  const secret = labelledExtract(sharedSecret, 'secret', empty);
  const key = labelledExpand(secret, 'key', scheduleContext, keyBytes);
  const nonce = labelledExpand(secret, 'base_nonce', scheduleContext, nonceBytes);
  const exporterSecret = labelledExpand(secret, 'exp', scheduleContext, secretBytes);
  return {
    seal: (plaintext) => primitives.seal(key, nonce, plaintext),
    open: (ciphertext) => primitives.open(key, nonce, ciphertext),
    exportSecret: (exporterContext, length) => labelledExpand(exporterSecret, 'sec', exporterContext, length),
  };
}

const version = utf8('HPKE-v1');

/** LabeledExtract and LabeledExpand (RFC 9180 §4) with a suite's id. */
function labelled({ extract, expand }: Primitives, suiteId: Uint8Array) {
  const prefix = concatBytes(version, suiteId);
  return {
    labelledExtract: (salt: Uint8Array, label: string, ikm: Uint8Array): Uint8Array =>
      extract(salt, concatBytes(prefix, utf8(label), ikm)),
    labelledExpand: (prk: Uint8Array, label: string, info: Uint8Array, length: number): Uint8Array => {
      const lengthBytes = Uint8Array.of(length >> 8, length & 0xff);
      return expand(prk, concatBytes(lengthBytes, prefix, utf8(label), info), length);
    },
  };
}

/** Constant-time, as the point is secret. */
function isZero(bytes: Uint8Array): boolean {
  let bits = 0;
  for (const byte of bytes) bits |= byte;
  return bits === 0;
}
