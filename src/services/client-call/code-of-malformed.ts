import { validateMembers } from '../../protocol/messages.ts';
import type { SealedClient } from '../client-session/answer-sealed.ts';
import type { ServiceContext } from '../context.ts';
import type { RefusalCode } from '../license/decide.ts';
import { judgeClient } from '../license/judge-client.ts';

const device = validateMembers.pick({ hwid: true });

/**
 * The code for a request with a malformed member, or an unknown call. The application's refusals come first: whether the
 * rest is well-formed does not concern a client that the application does not serve.
 */
export async function codeOfMalformed(
  ctx: ServiceContext,
  plaintext: unknown,
  client: SealedClient,
): Promise<RefusalCode | 'VALIDATION_FAILED'> {
  const { data } = device.safeParse(plaintext);
  const hwid = data?.hwid ?? null;
  const { code } = await judgeClient(ctx, { ...client, hwid });
  return code === 'OK' ? 'VALIDATION_FAILED' : code;
}
