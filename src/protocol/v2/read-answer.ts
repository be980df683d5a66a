import type * as z from 'zod';
import { verifyBytes } from '../signature.ts';
import { type AnswerSecret, openAnswer, signedAnswer } from './message.ts';
import { answerBinding, type CallAnswer, type CallName, callAnswers } from './messages.ts';
import { parseStrictJson } from './strict-json.ts';

/** The request that was sent, as far as its answer depends on it. */
export interface SentRequest<Call extends CallName> {
  readonly call: Call;
  readonly appId: string;
  /** The application's Ed25519 key. */
  readonly publicKey: Uint8Array;
  readonly secret: AnswerSecret;
  /** SHA-256 of the whole body. */
  readonly sha256: Uint8Array;
}

/** The check of SPEC §9 that an answer failed: the program has no answer then, neither yes nor no. */
export type FailedCheck = 'opening' | 'signature' | 'json' | 'binding' | 'members';

export type ReadAnswer<Call extends CallName> =
  | { readonly kind: 'answer'; readonly answer: CallAnswer<Call> }
  | { readonly kind: 'none'; readonly failed: FailedCheck };

/** Reads the body of an answer with HTTP status 200, and checks it in the order of SPEC §9. */
export function readAnswer<Call extends CallName>(
  body: Uint8Array,
  { call, appId, publicKey, secret, sha256 }: SentRequest<Call>,
): ReadAnswer<Call> {
  const opened = openAnswer(secret, body);
  if (opened === null) return none('opening');
  const { signature, payload } = opened;
  // Before anything is parsed: only the service can have written what is parsed.
  if (!verifyBytes(signature, signedAnswer(appId, sha256, payload), publicKey)) return none('signature');
  const content = parseStrictJson(payload);
  if (content === undefined) return none('json');
  const binding = answerBinding.safeParse(content);
  if (!binding.success || binding.data.call !== call) return none('binding');
  const schemas: { readonly [Name in CallName]: z.ZodType<CallAnswer<Name>> } = callAnswers;
  const parsed = schemas[call].safeParse(content);
  return parsed.success ? { kind: 'answer', answer: parsed.data } : none('members');
}

const none = (failed: FailedCheck) => ({ kind: 'none', failed }) as const;
