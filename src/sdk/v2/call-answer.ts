import { decodeBase64 } from '../../protocol/base64.ts';
import type { CallAnswer } from '../../protocol/v2/messages.ts';
import { type FailedCheck, readAnswer } from '../../protocol/v2/read-answer.ts';
import type { Answer, CallName, CallResults } from '../call.ts';
import { type Failure, untrusted } from '../failure.ts';
import type { Settings } from '../options.ts';
import type { SealedRequest } from './sealed-request.ts';

export interface ExpectedCallAnswer<Name extends CallName> {
  readonly request: SealedRequest;
  readonly call: Name;
  readonly settings: Pick<Settings, 'appId' | 'publicKey'>;
}

const messages: Readonly<Record<FailedCheck, string>> = {
  opening: "The answer does not open under the request's secret",
  signature: "The answer is not signed with the application's key, for this request",
  json: 'The signed answer is not JSON of the protocol',
  binding: 'The answer is of another version, or to another call than the one that was made',
  members: 'The signed answer does not follow the protocol',
};

interface AnswerHead {
  /** The service's clock, in Unix seconds. */
  readonly time: number;
  /** A key statement in base64. */
  readonly keys?: string | undefined;
}

/** Shows the compiler that each answer has the members of its call's result. */
const resultOf: {
  readonly [Name in CallName]: (answer: CallAnswer<Name>) => CallResults[Name] & AnswerHead;
} = {
  validate: (answer) => answer,
  lease: (answer) => answer,
  register: (answer) => answer,
  login: (answer) => answer,
  upgrade: (answer) => answer,
  'devices.list': (answer) => answer,
  'devices.release': (answer) => answer,
  'devices.move': (answer) => answer,
};

/** Opens the body of an answer with status 200. */
export function openCallAnswer<Name extends CallName>(
  body: Uint8Array,
  { request: { sha256, secret }, call, settings: { appId, publicKey } }: ExpectedCallAnswer<Name>,
): Answer<CallResults[Name] & AnswerHead> | Failure {
  const read = readAnswer(body, { call, appId, publicKey, secret, sha256 });
  if (read.kind === 'none') return untrusted(messages[read.failed]);
  return { kind: 'answer', inner: resultOf[call](read.answer) };
}

/** The statement that an answer carries; null if it carries none. */
export function statementIn({ keys }: AnswerHead): Uint8Array | null {
  return keys === undefined ? null : decodeBase64(keys);
}
