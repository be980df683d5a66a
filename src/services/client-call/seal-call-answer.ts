import { z } from 'zod';
import { encodeBase64 } from '../../crypto/base64.ts';
import { nativePrimitives } from '../../crypto/native-primitives.ts';
import { unixSeconds } from '../../lib/clock.ts';
import { randomBytes } from '../../lib/random-bytes.ts';
import { protocolVersion } from '../../protocol/v2/constants.ts';
import { padded, responseNonceBytes, sealAnswer, signedAnswer } from '../../protocol/v2/message.ts';
import { callHead } from '../../protocol/v2/messages.ts';
import type { ServiceContext } from '../context.ts';
import type { AnswerMembers } from './calls.ts';
import { statementFor } from './key-statement.ts';
import type { OpenedCall } from './open-call.ts';

/** Whether or not the rest of the head is well-formed. */
const named = z.object({ call: callHead.shape.call });

/** Signs an answer with the application's key, together with the hash of the request, and seals it. */
export function sealCallAnswer(ctx: ServiceContext, call: OpenedCall, members: AnswerMembers): Uint8Array {
  const { application, requestSha256, context, encapsulatedKey } = call;
  const { data } = named.safeParse(call.plaintext);
  const payload = padded(
    JSON.stringify({
      v: protocolVersion,
      ...data,
      time: unixSeconds(ctx.env.clock),
      ...members,
      ...newerStatement(ctx, call),
    }),
  );
  const signature = application.signer.sign(signedAnswer(application.id, requestSha256, payload));
  const secret = { context, encapsulatedKey, primitives: nativePrimitives };
  return sealAnswer(secret, randomBytes(responseNonceBytes), { signature, payload });
}

/** The statement of the current key, if the client does not use that one. */
function newerStatement({ env }: ServiceContext, { application, key }: OpenedCall): { keys?: string } {
  const announced = env.serviceKeys.lastAnnounced();
  if (announced === null || announced.notBefore <= key.notBefore) return {};
  return { keys: encodeBase64(statementFor(application, announced).bytes) };
}
