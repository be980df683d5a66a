import { sha256 } from '@noble/hashes/sha2.js';
import * as z from 'zod';
import { decodeBase64, encodeBase64 } from '../protocol/base64.ts';
import { decodeUtf8 } from '../protocol/bytes.ts';
import { canonicalJson, type JsonValue } from '../protocol/canonical-json.ts';
import { openEnvelope } from '../protocol/envelope.ts';
import { sealedResponse } from '../protocol/messages.ts';
import { verifyBytes } from '../protocol/signature.ts';
import type { Answer } from './call.ts';
import { clockFailure, isOnTime } from './clock.ts';
import { type Failure, untrusted } from './failure.ts';
import type { Session } from './handshake.ts';
import { parseJson } from './http.ts';
import type { Settings } from './options.ts';

export interface ExpectedAnswer<Result> {
  readonly session: Session;
  /** The nonce that the request carried. */
  readonly nonce: string;
  /** The plaintext of the request, if it asked for its hash; null for a request of an earlier client. */
  readonly request: Uint8Array | null;
  readonly result: z.ZodType<Result>;
  readonly settings: Pick<Settings, 'publicKey' | 'now'>;
}

/** Members that bind a response to its request. Parsed separately, because they are checked before the others. */
const binding = z.object({
  sessionId: z.string(),
  timestamp: z.int(),
  nonce: z.string().optional(),
  requestSha256B64: z.string().optional(),
});

/** Opens a sealed response, performing the checks of SPEC §7 in order. */
export function openSealedAnswer<Result>(
  body: unknown,
  { session, nonce, request, result, settings }: ExpectedAnswer<Result>,
): Answer<Result> | Failure {
  const outer = sealedResponse.safeParse(body);
  if (!outer.success) return untrusted('The response is not sealed');
  const plaintext = openEnvelope(session.key, outer.data);
  if (plaintext === null) return untrusted('The response cannot be decrypted with the session key');

  const inner = parseCanonical(plaintext);
  if (inner === undefined) return untrusted('The sealed plaintext is not canonical JSON');
  const signature = decodeBase64(outer.data.signatureB64);
  if (signature === null || !verifyBytes(signature, plaintext, settings.publicKey)) {
    return untrusted("The response is not signed with the application's key");
  }

  const bound = binding.safeParse(inner);
  if (!bound.success || bound.data.sessionId !== session.sessionId) {
    return untrusted('The response belongs to another session');
  }
  // Before the clock: the nonce proves that the response is fresh, and only a fresh timestamp says anything about this clock.
  if (bound.data.nonce !== nonce) return untrusted("The response does not contain the request's nonce");
  if (request !== null) {
    const { requestSha256B64 } = bound.data;
    if (requestSha256B64 === undefined) {
      return untrusted('The response has no hash of the request: the service may be older than this SDK');
    }
    // Someone who reads the handshake can send the server another request under the same nonce.
    if (requestSha256B64 !== encodeBase64(sha256(request))) {
      return untrusted('The response is to another request than the one that was sent');
    }
  }
  if (!isOnTime(bound.data.timestamp, settings.now)) return clockFailure();

  const parsed = result.safeParse(inner);
  if (!parsed.success) return untrusted('The signed response does not follow the protocol');
  return { kind: 'answer', inner: parsed.data };
}

/** Parses bytes that are canonical JSON; undefined for anything else, including ambiguous JSON such as duplicate names. */
function parseCanonical(bytes: Uint8Array): JsonValue | undefined {
  const text = decodeUtf8(bytes);
  const value = text === null ? undefined : parseJson(text);
  if (value === undefined) return undefined;
  try {
    return canonicalJson(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}
