import type { ServiceContext } from '../context.ts';
import { type ClientRequest, clientFacts } from './client-facts.ts';
import { type ClientFacts, decide, type RefusalCode } from './decide.ts';

/** Whether an application serves a client, without a question about a license; and the facts for further questions. */
export async function judgeClient(
  ctx: ServiceContext,
  request: ClientRequest,
): Promise<{ readonly code: RefusalCode | 'OK'; readonly client: ClientFacts }> {
  const { application, hwid } = request;
  const client = await clientFacts(ctx, request);
  const now = new Date(ctx.env.clock.now());
  const { code } = decide({ application, client, license: 'not-asked', hwid, now });
  return { code, client };
}
