import { createHmac } from 'node:crypto';
import { openRecord, sealRecord } from './sealed-record.ts';

/** What names a stored answer in the database, what its request is compared by, and what encrypts it. */
export interface AnswerKeys {
  /** 32 bytes. */
  readonly requestHash: Uint8Array<ArrayBuffer>;
  /** 32 bytes: what the request must have again. */
  readonly fingerprint: Uint8Array<ArrayBuffer>;
  /** 32 bytes; never stored. */
  readonly key: Uint8Array;
}

/**
 * Derives them from the client's Idempotency-Key and the master secret, so that a stored answer opens only with both: a dump
 * of the database does not reveal it, even if the client's key can be guessed, and neither does a client's log. Without the
 * master secret, an attacker cannot test guesses of a password against the fingerprint of its request.
 * @param answerSecret of the keyring
 * @param request names the request: who sends it, where to, and the Idempotency-Key
 * @param content what must be the same when the key is sent again
 */
export function answerKeys(answerSecret: Uint8Array, request: string, content: string): AnswerKeys {
  const derive = (label: string, text: string) =>
    new Uint8Array(createHmac('sha256', answerSecret).update(`${label}\0${text}`).digest());
  return {
    requestHash: derive('name', request),
    fingerprint: derive('content', `${request}\0${content}`),
    key: derive('seal', request),
  };
}

/** Encrypts an answer. @param part which of the request's answers it is */
export const sealAnswer = (
  { requestHash, key }: AnswerKeys,
  part: string,
  answer: Uint8Array,
): Uint8Array<ArrayBuffer> => sealRecord(key, associated(requestHash, part), answer);

/** Decrypts an answer of `sealAnswer`; null if it was altered, or moved to another row. */
export const openAnswer = (
  { requestHash, key }: AnswerKeys,
  part: string,
  sealed: Uint8Array,
): Uint8Array | null => openRecord(key, associated(requestHash, part), sealed);

const associated = (requestHash: Uint8Array, part: string): Uint8Array =>
  Buffer.concat([requestHash, Buffer.from(part)]);
