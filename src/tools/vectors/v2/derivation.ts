import { expand, extract } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { concatBytes, utf8 } from '../../../protocol/bytes.ts';
import { noblePrimitives } from '../../../protocol/v2/primitives.ts';

// The key schedule of SPEC §4 and §6 a second time, step by step: the vectors show every value, and contain requests that
// `protocol/v2` refuses to make. The tests compare both.

const kem = concatBytes(utf8('KEM'), Uint8Array.of(0x00, 0x20));
const hpke = concatBytes(utf8('HPKE'), Uint8Array.of(0x00, 0x20, 0x00, 0x01, 0x00, 0x03));
const none = new Uint8Array();

const labelledExtract = (suite: Uint8Array, salt: Uint8Array, label: string, ikm: Uint8Array) =>
  extract(sha256, concatBytes(utf8('HPKE-v1'), suite, utf8(label), ikm), salt);

const labelledExpand = (
  suite: Uint8Array,
  prk: Uint8Array,
  label: string,
  info: Uint8Array,
  length: number,
) =>
  expand(
    sha256,
    prk,
    concatBytes(Uint8Array.of(0, length), utf8('HPKE-v1'), suite, utf8(label), info),
    length,
  );

export interface Agreement {
  readonly sharedPoint: Uint8Array;
  readonly encapsulatedKey: Uint8Array;
  readonly recipientKey: Uint8Array;
  readonly info: Uint8Array;
}

/** Every value from the shared point to the keys of the request, and a seal for it. */
export function deriveSteps({ sharedPoint, encapsulatedKey, recipientKey, info }: Agreement) {
  const kemContext = concatBytes(encapsulatedKey, recipientKey);
  const prk = labelledExtract(kem, none, 'eae_prk', sharedPoint);
  const sharedSecret = labelledExpand(kem, prk, 'shared_secret', kemContext, 32);
  const pskIdHash = labelledExtract(hpke, none, 'psk_id_hash', none);
  const infoHash = labelledExtract(hpke, none, 'info_hash', info);
  const scheduleContext = concatBytes(Uint8Array.of(0), pskIdHash, infoHash);
  const secret = labelledExtract(hpke, sharedSecret, 'secret', none);
  const key = labelledExpand(hpke, secret, 'key', scheduleContext, 32);
  const nonce = labelledExpand(hpke, secret, 'base_nonce', scheduleContext, 12);
  const exporterSecret = labelledExpand(hpke, secret, 'exp', scheduleContext, 32);
  const label = utf8('application/vnd.latchkey.v2 response');
  const responseSecret = labelledExpand(hpke, exporterSecret, 'sec', label, 32);
  return {
    values: {
      prk,
      sharedSecret,
      pskIdHash,
      infoHash,
      scheduleContext,
      secret,
      key,
      nonce,
      exporterSecret,
      responseSecret,
    },
    seal: (plaintext: Uint8Array) => noblePrimitives.seal(key, nonce, plaintext),
  };
}

/** Every value from the response secret to the keys of the answer (RFC 9458 §4.4). */
export function deriveAnswerSteps(
  encapsulatedKey: Uint8Array,
  nonce: Uint8Array,
  responseSecret: Uint8Array,
) {
  const salt = concatBytes(encapsulatedKey, nonce);
  const prk = extract(sha256, responseSecret, salt);
  return {
    answerPrk: prk,
    answerKey: expand(sha256, prk, utf8('key'), 32),
    answerIv: expand(sha256, prk, utf8('nonce'), 12),
  };
}

/** The same members in hexadecimal, with `Hex` behind their names. */
export const inHex = (values: Readonly<Record<string, Uint8Array>>) =>
  Object.fromEntries(Object.entries(values).map(([name, bytes]) => [`${name}Hex`, bytesToHex(bytes)]));
