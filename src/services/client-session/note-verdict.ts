import type { AnswerCode } from '../../protocol/v2/messages.ts';
import type { ServiceContext } from '../context.ts';
import type { ClientVerbName } from '../service-counts.ts';

/** Counts a verdict and records it for the request's log line, as the response itself is sealed. */
export function noteVerdict(ctx: ServiceContext, verb: ClientVerbName, code: AnswerCode): void {
  ctx.notes.code = code;
  ctx.env.counts.verdicts[verb].add(code);
}
