import { concatBytes, requireLength, utf8 } from '../bytes.ts';
import { aeadId, kdfId, kemId, keyBytes } from './constants.ts';
import { noblePrimitives, type Primitives } from './primitives.ts';

// HPKE (RFC 9180) in base mode, with the only suite of version 2. A context is for one message: the sequence is always 0.

const empty = new Uint8Array();
const labelOf = (suiteId: Uint8Array) => (label: string) =>
  concatBytes(utf8('HPKE-v1'), suiteId, utf8(label));
const kemLabel = labelOf(concatBytes(utf8('KEM'), kemId));
const hpkeLabel = labelOf(concatBytes(utf8('HPKE'), kemId, kdfId, aeadId));
/** The labels of RFC 9180, each with the version and the suite that precede it. */
const labels = {
  eaePrk: kemLabel('eae_prk'),
  sharedSecret: kemLabel('shared_secret'),
  pskIdHash: hpkeLabel('psk_id_hash'),
  infoHash: hpkeLabel('info_hash'),
  secret: hpkeLabel('secret'),
  key: hpkeLabel('key'),
  baseNonce: hpkeLabel('base_nonce'),
  exporter: hpkeLabel('exp'),
  exported: hpkeLabel('sec'),
} as const;
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
  const { labelledExtract } = labelled(primitives);
  return concatBytes(
    baseMode,
    labelledExtract(empty, labels.pskIdHash, empty),
    labelledExtract(empty, labels.infoHash, info),
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
  const { labelledExtract, labelledExpand } = labelled(primitives);
  const kemContext = concatBytes(encapsulatedKey, recipientKey);
  const prk = labelledExtract(empty, labels.eaePrk, sharedPoint);
  const sharedSecret = labelledExpand(prk, labels.sharedSecret, kemContext, secretBytes);
  return scheduleKeys(sharedSecret, scheduleContext, primitives);
}

function scheduleKeys(
  sharedSecret: Uint8Array,
  scheduleContext: Uint8Array,
  primitives: Primitives,
): HpkeContext {
  const { labelledExtract, labelledExpand } = labelled(primitives);
  const secret = labelledExtract(sharedSecret, labels.secret, empty);
  const key = labelledExpand(secret, labels.key, scheduleContext, keyBytes);
  const nonce = labelledExpand(secret, labels.baseNonce, scheduleContext, nonceBytes);
  return {
    seal: (plaintext) => primitives.seal(key, nonce, plaintext),
    open: (ciphertext) => primitives.open(key, nonce, ciphertext),
    exportSecret: (exporterContext, length) => {
      // Only now: a request that does not open, which anyone can send, costs less.
      const exporterSecret = labelledExpand(secret, labels.exporter, scheduleContext, secretBytes);
      return labelledExpand(exporterSecret, labels.exported, exporterContext, length);
    },
  };
}

/** LabeledExtract and LabeledExpand (RFC 9180 §4). */
function labelled({ extract, expand }: Primitives) {
  return {
    labelledExtract: (salt: Uint8Array, label: Uint8Array, ikm: Uint8Array): Uint8Array =>
      extract(salt, concatBytes(label, ikm)),
    labelledExpand: (prk: Uint8Array, label: Uint8Array, info: Uint8Array, length: number): Uint8Array =>
      expand(prk, concatBytes(Uint8Array.of(length >> 8, length & 0xff), label, info), length),
  };
}

/** Constant-time, as the point is secret. */
function isZero(bytes: Uint8Array): boolean {
  let bits = 0;
  for (const byte of bytes) bits |= byte;
  return bits === 0;
}
