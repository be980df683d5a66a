import type { z } from 'zod';
import { decodeBase64, encodeBase64 } from '../../src/protocol/base64.ts';
import { decodeUtf8 } from '../../src/protocol/bytes.ts';
import { clockSkewSeconds } from '../../src/protocol/constants.ts';
import { openEnvelope } from '../../src/protocol/envelope.ts';
import {
  type InnerHead,
  innerHead,
  innerValidateRequest,
  type PlaintextErrorCode,
  sealedRequest,
} from '../../src/protocol/messages.ts';

export interface JudgeContext {
  /** The key of a session; undefined for an unknown one. */
  readonly keyOf: (sessionId: string) => Uint8Array | undefined;
  /** Unix seconds. */
  readonly now: number;
  /** Marks a nonce as used; false if it was used already. */
  readonly useNonce: (sessionId: string, nonceB64: string) => boolean;
}

export type Judgement =
  | { readonly kind: 'plaintext'; readonly code: PlaintextErrorCode }
  | {
      readonly kind: 'malformed';
      readonly sessionId: string;
      readonly key: Uint8Array;
      readonly head: InnerHead | null;
      readonly plaintext: Uint8Array;
    }
  | {
      readonly kind: 'accepted';
      readonly sessionId: string;
      readonly key: Uint8Array;
      readonly inner: InnerHead;
      readonly plaintext: Uint8Array;
    };

const refused = (code: PlaintextErrorCode): Judgement => ({ kind: 'plaintext', code });

/** SPEC §10, steps 1 to 5, without services; for the inner body of validate by default. */
export function judgeRequest(
  body: unknown,
  { keyOf, now, useNonce }: JudgeContext,
  innerRequest: z.ZodType<InnerHead> = innerValidateRequest,
  call = 'validate',
): Judgement {
  const outer = sealedRequest.safeParse(body);
  if (!outer.success) return refused(isPlaintextBody(body) ? 'CRYPTO_REQUIRED' : 'VALIDATION_FAILED');
  const { sessionId, ...envelope } = outer.data;
  const key = keyOf(sessionId);
  if (key === undefined) return refused('SESSION_EXPIRED');
  const bytes = openEnvelope(key, envelope);
  if (bytes === null) return refused('DECRYPT_FAIL');

  const inner = parse(bytes);
  const head = innerHead.safeParse(inner);
  if (!head.success) return { kind: 'malformed', sessionId, key, head: null, plaintext: bytes };
  if (Math.abs(head.data.timestamp - now) > clockSkewSeconds) return refused('CLOCK_SKEW');
  const nonce = encodeBase64(decodeBase64(head.data.nonce) ?? new Uint8Array());
  if (!useNonce(sessionId, nonce)) return refused('REPLAY');
  const request = innerRequest.safeParse(inner);
  const { echoRequest, call: named = call } = head.data;
  if (!request.success || (echoRequest === true && named !== call))
    return { kind: 'malformed', sessionId, key, head: head.data, plaintext: bytes };
  return { kind: 'accepted', sessionId, key, inner: request.data, plaintext: bytes };
}

function isPlaintextBody(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  return !('ivB64' in body || 'ciphertextB64' in body || 'tagB64' in body);
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decodeUtf8(bytes) ?? '');
  } catch {
    return undefined;
  }
}
