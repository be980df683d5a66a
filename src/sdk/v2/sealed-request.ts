import { sha256 } from '@noble/hashes/sha2.js';
import { utf8 } from '../../protocol/bytes.ts';
import type { JsonObject } from '../../protocol/canonical-json.ts';
import { maxRequestBytes } from '../../protocol/v2/constants.ts';
import { deriveContext, keyScheduleContext } from '../../protocol/v2/hpke.ts';
import type { ServiceKey } from '../../protocol/v2/key-statement.ts';
import { type AnswerSecret, padded, requestBytes, requestInfo } from '../../protocol/v2/message.ts';
import { parseStrictJson } from '../../protocol/v2/strict-json.ts';
import { agree } from './x25519.ts';

export interface SealedRequest {
  readonly body: Uint8Array;
  /** Of the body. The signature of the answer covers it. */
  readonly sha256: Uint8Array;
  readonly secret: AnswerSecret;
}

/**
 * Encrypts a request to the service's key, under a fresh ephemeral key.
 * @returns null if the service's key is of small order
 */
export async function sealRequest(key: ServiceKey, request: Uint8Array): Promise<SealedRequest | null> {
  const agreement = await agree(key.publicKey);
  if (agreement === null) return null;
  const { encapsulatedKey } = agreement;
  const context = deriveContext({
    ...agreement,
    recipientKey: key.publicKey,
    scheduleContext: keyScheduleContext(requestInfo(key.keyId)),
  });
  if (context === null) return null;
  const body = requestBytes({ keyId: key.keyId, encapsulatedKey, ciphertext: context.seal(request) });
  return { body, sha256: sha256(body), secret: { context, encapsulatedKey } };
}

/** Bytes of a body besides the padded text. */
const overheadBytes = 7 + 32 + 16;

/**
 * The plaintext of a request. Members that no request can carry, such as a text with NUL, are sent empty: the service then
 * refuses the request in a signed answer, as it does for other members that it finds malformed.
 */
export function requestPlaintext(members: JsonObject, head: JsonObject): Uint8Array {
  const carried = Object.entries(members).map(([name, value]) => [name, isCarried(value) ? value : '']);
  const plaintext = padded(JSON.stringify({ ...Object.fromEntries(carried), ...head }));
  if (plaintext.length + overheadBytes <= maxRequestBytes) return plaintext;
  const empty = Object.keys(members).map((name) => [name, '']);
  return padded(JSON.stringify({ ...Object.fromEntries(empty), ...head }));
}

/** `undefined` is carried: JSON omits it. */
function isCarried(value: unknown): boolean {
  return value === undefined || parseStrictJson(utf8(JSON.stringify([value]))) !== undefined;
}
