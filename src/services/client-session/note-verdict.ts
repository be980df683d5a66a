import type { VerdictCode } from '../../protocol/messages.ts';
import type { ServiceContext } from '../context.ts';
import type { ClientVerbName } from '../service-counts.ts';

/** Counts a verdict, and has the request's log line say it: the answer itself is sealed, and tells nobody on its way. */
export function noteVerdict(ctx: ServiceContext, verb: ClientVerbName, code: VerdictCode): void {
  ctx.notes.code = code;
  ctx.env.counts.verdicts[verb].add(code);
}
