import type { z } from 'zod';
import type { JsonValue } from '../../protocol/canonical-json.ts';
import { protocolVersion } from '../../protocol/constants.ts';
import type { SealedRequest } from '../../protocol/messages.ts';
import { messageFor } from '../application/message-for.ts';
import type { ServiceContext } from '../context.ts';
import type { ClientRequest } from '../license/client-facts.ts';
import type { ClientVerbName } from '../service-counts.ts';
import { noteVerdict } from './note-verdict.ts';
import { openRequest } from './open-request.ts';
import { type SealedAnswer, sealAnswer } from './seal-answer.ts';

/** The members of a sealed result, in addition to those that each has. */
type Result = Readonly<Record<string, JsonValue>>;

/** One verb of the client protocol. */
export interface ClientVerbDefinition<Body, Outcome extends Result = Result> {
  readonly name: ClientVerbName;
  /** The inner body, without the members that only sealing needs: those are checked when it is opened. */
  readonly schema: z.ZodType<Body>;
  /** The members of a malformed body's answer, in addition to its code and message. */
  readonly malformed: Readonly<Record<string, null>>;
  readonly answer: (ctx: ServiceContext, body: Body, client: SealedClient) => Promise<Outcome>;
}

/** The client that sent a request. */
export type SealedClient = Omit<ClientRequest, 'hwid'>;

/**
 * Opens a sealed request, handles it, and seals the response. The response to a malformed inner body is sealed too
 * (SPEC §10).
 * @throws {ProtocolError} SESSION_EXPIRED, DECRYPT_FAIL, CLOCK_SKEW, REPLAY
 * @throws {ServiceError} UNAVAILABLE
 */
export async function answerSealed<Body>(
  ctx: ServiceContext,
  envelope: SealedRequest,
  verb: ClientVerbDefinition<Body>,
): Promise<SealedAnswer> {
  const request = await openRequest(ctx, envelope);
  const { application } = request;
  // A proxy can send a request to the path of another call without opening it.
  const isForThisCall = request.call === undefined || request.call === verb.name;
  const inner = isForThisCall ? verb.schema.safeParse(request.inner) : null;
  if (inner === null || !inner.success) {
    noteVerdict(ctx, verb.name, 'VALIDATION_FAILED');
    const message = messageFor(application, 'VALIDATION_FAILED');
    return sealAnswer(ctx, request, {
      success: false,
      code: 'VALIDATION_FAILED',
      message,
      ...verb.malformed,
    });
  }
  const { clientVersion } = request.session;
  const client: SealedClient = { application, clientVersion, protocol: protocolVersion };
  return sealAnswer(ctx, request, await verb.answer(ctx, inner.data, client));
}
