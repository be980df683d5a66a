import type { RateLimitOutcome } from '../../ephemeral/store.ts';
import { protocolVersion } from '../../protocol/v2/constants.ts';
import type { AnswerCode, CallHead } from '../../protocol/v2/messages.ts';
import type { SealedClient } from '../client-session/answer-sealed.ts';
import { noteVerdict } from '../client-session/note-verdict.ts';
import type { ServiceContext } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import { ProtocolError } from '../protocol-error.ts';
import { saysUnavailable } from '../unavailable.ts';
import { admitCall } from './admit-call.ts';
import { callMessage } from './call-message.ts';
import { type AnswerMembers, type Call, findCall } from './calls.ts';
import { codeOfMalformed } from './code-of-malformed.ts';
import { type OpenedCall, openCall } from './open-call.ts';
import { sealCallAnswer } from './seal-call-answer.ts';

export interface CallAnswer {
  /** The sealed and signed answer. */
  readonly bytes: Uint8Array;
  /** The limit that the answer says is reached. */
  readonly reached: RateLimitOutcome | null;
}

interface Result {
  readonly members: AnswerMembers;
  readonly reached: RateLimitOutcome | null;
}

/**
 * Answers a request of protocol version 2, in the order of its SPEC. Once the request is open and its application known,
 * every answer is sealed and signed, also UNAVAILABLE.
 * @throws {ProtocolError} MALFORMED, KEY_UNKNOWN
 * @throws {ServiceError} APP_NOT_FOUND
 */
export async function answerCall(ctx: ServiceContext, body: Uint8Array): Promise<CallAnswer> {
  // Read first: the steps below may wait, and the replay guard may lose its memory in that time.
  const { epoch } = ctx.env.store;
  const call = await openCall(ctx, body);
  const { members, reached } = await resultOf(ctx, call, epoch);
  return { bytes: sealCallAnswer(ctx, call, members), reached };
}

async function resultOf(ctx: ServiceContext, call: OpenedCall, epoch: string): Promise<Result> {
  try {
    const { head, refusal } = await admitCall(ctx, call, epoch);
    if (head !== null) return await judge(ctx, call, head);
    ctx.env.counts.protocolRefusals.add(refusal);
    return refuse(ctx, call, refusal);
  } catch (error) {
    // The application was deleted in the meantime, so its answers can no longer be signed.
    if (error instanceof ProtocolError && error.code === 'SESSION_EXPIRED') throw applicationNotFound();
    if (!saysUnavailable(error)) throw error;
    ctx.env.log.error({ err: error }, 'a call could not be judged: a required dependency is unavailable');
    return refuse(ctx, call, 'UNAVAILABLE');
  }
}

async function judge(ctx: ServiceContext, opened: OpenedCall, head: CallHead): Promise<Result> {
  const call = findCall(head.call);
  const limit = call === null ? null : await takePoint(ctx, call);
  if (limit !== null && !limit.allowed) return { ...refuse(ctx, opened, 'RATE_LIMITED'), reached: limit };
  const { application } = opened;
  const client: SealedClient = { application, clientVersion: head.version, protocol: protocolVersion };
  const verdict = await call?.answer(ctx, opened.plaintext, client);
  if (call === null || verdict === undefined || verdict === null) {
    const code = await codeOfMalformed(ctx, opened.plaintext, client);
    if (call !== null) noteVerdict(ctx, call.name, code);
    return refuse(ctx, opened, code, call?.malformed);
  }
  noteVerdict(ctx, call.name, verdict.code);
  ctx.env.counts.callAnswers.add(verdict.code);
  return { members: verdict, reached: null };
}

async function takePoint(ctx: ServiceContext, { limit }: Call): Promise<RateLimitOutcome | null> {
  if (limit === null) return null;
  const { store, settings, counts } = ctx.env;
  const points = settings.rateLimits[limit];
  const outcome = await store.consume({ name: limit, points }, ctx.client.limitKey);
  if (!outcome.allowed) counts.rateLimited.add(limit);
  return outcome;
}

function refuse(
  ctx: ServiceContext,
  { application }: OpenedCall,
  code: AnswerCode,
  more: AnswerMembers = {},
): Result {
  ctx.notes.code = code;
  ctx.env.counts.callAnswers.add(code);
  return {
    members: { success: false, code, message: callMessage(application, code), ...more },
    reached: null,
  };
}
