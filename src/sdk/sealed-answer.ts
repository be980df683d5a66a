import * as z from 'zod';
import { decodeBase64 } from '../protocol/base64.ts';
import { decodeUtf8 } from '../protocol/bytes.ts';
import { canonicalJson, type JsonValue } from '../protocol/canonical-json.ts';
import { openEnvelope } from '../protocol/envelope.ts';
import { sealedResponse } from '../protocol/messages.ts';
import { verifyBytes } from '../protocol/signature.ts';
import { clockFailure, isOnTime } from './clock.ts';
import { type Failure, untrusted } from './failure.ts';
import type { Session } from './handshake.ts';
import { parseJson } from './http.ts';
import type { Settings } from './options.ts';

/** An answer that passed every check of SPEC §7. */
export interface Answer<Result> {
  readonly kind: 'answer';
  readonly inner: Result;
}

export interface ExpectedAnswer<Result> {
  readonly session: Session;
  /** The nonce that the request carried. */
  readonly nonce: string;
  readonly result: z.ZodType<Result>;
  readonly settings: Pick<Settings, 'publicKey' | 'now'>;
}

/** What binds an answer to its request; read apart from the rest, as it is checked before the rest. */
const binding = z.object({ sessionId: z.string(), timestamp: z.int(), nonce: z.string().optional() });

/** The inner object of a sealed answer, with the checks of SPEC §7 in their order. */
export function openSealedAnswer<Result>(
  body: unknown,
  { session, nonce, result, settings }: ExpectedAnswer<Result>,
): Answer<Result> | Failure {
  const outer = sealedResponse.safeParse(body);
  if (!outer.success) return untrusted('The answer is not sealed');
  const plaintext = openEnvelope(session.key, outer.data);
  if (plaintext === null) return untrusted('The answer does not open under the session key');

  const inner = parseCanonical(plaintext);
  if (inner === undefined) return untrusted('The sealed text is not canonical JSON');
  const signature = decodeBase64(outer.data.signatureB64);
  if (signature === null || !verifyBytes(signature, plaintext, settings.publicKey)) {
    return untrusted("The answer is not signed with the application's key");
  }

  const bound = binding.safeParse(inner);
  if (!bound.success || bound.data.sessionId !== session.sessionId) {
    return untrusted('The answer belongs to another session');
  }
  // Before the clock: only an answer that carries our nonce is fresh, so that its time says anything of this clock.
  if (bound.data.nonce !== nonce) return untrusted('The answer does not carry the nonce of the request');
  if (!isOnTime(bound.data.timestamp, settings.now)) return clockFailure();

  const parsed = result.safeParse(inner);
  if (!parsed.success) return untrusted('The signed answer has another shape than the protocol says');
  return { kind: 'answer', inner: parsed.data };
}

/** The value of bytes that are its canonical JSON; undefined for all others, an ambiguous text among them. */
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
