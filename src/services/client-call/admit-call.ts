import { unixSeconds } from '../../lib/clock.ts';
import { clockSkewSeconds } from '../../protocol/constants.ts';
import { type AnswerCode, type CallHead, callHead } from '../../protocol/v2/messages.ts';
import type { ServiceContext } from '../context.ts';
import type { OpenedCall } from './open-call.ts';

/** Distinguishes requests of version 2 from sessions, whose tags are longer, in the replay guard's memory. */
const replayTag = 'call';

export type Admission =
  | { readonly head: CallHead; readonly refusal: null }
  | {
      readonly head: null;
      readonly refusal: Extract<AnswerCode, 'VALIDATION_FAILED' | 'CLOCK_SKEW' | 'REPLAY'>;
    };

const refuse = (refusal: NonNullable<Admission['refusal']>): Admission => ({ head: null, refusal });

/**
 * Checks that a request is well-formed, on time and new. The encapsulated key identifies the request: it enters the
 * derivation of its keys, so it cannot be varied.
 * @param epoch the store's epoch from before the request was opened
 * @throws {StoreUnavailableError} if a replay cannot be ruled out
 */
export async function admitCall(ctx: ServiceContext, call: OpenedCall, epoch: string): Promise<Admission> {
  const { clock, replayGuard } = ctx.env;
  const head = callHead.safeParse(call.plaintext);
  if (!head.success) return refuse('VALIDATION_FAILED');
  if (Math.abs(unixSeconds(clock) - head.data.time) > clockSkewSeconds) return refuse('CLOCK_SKEW');
  const isNew = await replayGuard.firstUse(replayTag, call.encapsulatedKey, epoch);
  return isNew ? { head: head.data, refusal: null } : refuse('REPLAY');
}
