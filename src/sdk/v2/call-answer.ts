import type * as z from 'zod';
import { decodeBase64 } from '../../protocol/base64.ts';
import { verifyBytes } from '../../protocol/signature.ts';
import { openAnswer, signedAnswer } from '../../protocol/v2/message.ts';
import { callAnswers } from '../../protocol/v2/messages.ts';
import { parseStrictJson } from '../../protocol/v2/strict-json.ts';
import type { Answer, CallName, CallResults } from '../call.ts';
import { type Failure, untrusted } from '../failure.ts';
import type { Settings } from '../options.ts';
import type { SealedRequest } from './sealed-request.ts';

/** What every answer has besides its result. */
interface AnswerHead {
  readonly call: string;
  /** Unix seconds on the service's clock. */
  readonly time: number;
  /** A key statement in base64. */
  readonly keys?: string | undefined;
}

const answers: { readonly [Name in CallName]: z.ZodType<CallResults[Name] & AnswerHead> } = callAnswers;

export interface ExpectedCallAnswer<Name extends CallName> {
  readonly request: SealedRequest;
  readonly call: Name;
  readonly settings: Pick<Settings, 'appId' | 'publicKey'>;
}

/**
 * Opens the body of an answer with status 200, performing the checks of a client in their order: what is not from the
 * service, to this request, is not even parsed.
 */
export function openCallAnswer<Name extends CallName>(
  body: Uint8Array,
  { request, call, settings }: ExpectedCallAnswer<Name>,
): Answer<CallResults[Name] & AnswerHead> | Failure {
  const opened = openAnswer(request.secret, body);
  if (opened === null) return untrusted("The answer does not open under the request's secret");
  const { signature, payload } = opened;
  const signed = signedAnswer(settings.appId, request.sha256, payload);
  if (!verifyBytes(signature, signed, settings.publicKey)) {
    return untrusted("The answer is not signed with the application's key, for this request");
  }
  const parsed = answers[call].safeParse(parseStrictJson(payload));
  if (!parsed.success) return untrusted('The signed answer does not follow the protocol');
  if (parsed.data.call !== call) return untrusted('The answer is to another call than the one that was made');
  return { kind: 'answer', inner: parsed.data };
}

/** The statement that an answer carries; null if it carries none. */
export function statementIn({ keys }: AnswerHead): Uint8Array | null {
  return keys === undefined ? null : decodeBase64(keys);
}
