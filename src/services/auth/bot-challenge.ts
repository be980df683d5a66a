import { z } from 'zod';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';

const timeLimitMilliseconds = 5_000;
const answer = z.object({ success: z.boolean() });

/**
 * Verifies a bot-challenge token with Turnstile's siteverify API. Does nothing if no secret key is configured.
 * @throws {ServiceError} BOT_CHALLENGE_FAILED if the token is missing or rejected; UNAVAILABLE if the API does not respond
 *   in time
 */
export async function verifyBotChallenge(ctx: ServiceContext, token: string | undefined): Promise<void> {
  const { turnstile } = ctx.env.settings;
  if (turnstile === null) return;
  if (token === undefined || token === '') {
    throw new ServiceError(
      'BOT_CHALLENGE_FAILED',
      'Send the token of a solved bot challenge as turnstileToken.',
    );
  }
  const outcome = await askVerifier(turnstile, token, ctx.client.ip).catch((cause: unknown) => {
    throw new ServiceError('UNAVAILABLE', 'The bot challenge could not be checked. Try again.', { cause });
  });
  if (!outcome.success) {
    throw new ServiceError('BOT_CHALLENGE_FAILED', 'The bot challenge was not passed. Solve a new one.');
  }
}

async function askVerifier(
  turnstile: { secretKey: string; verifyUrl: string },
  token: string,
  ip: string | null,
) {
  const response = await fetch(turnstile.verifyUrl, {
    method: 'POST',
    body: new URLSearchParams({
      secret: turnstile.secretKey,
      response: token,
      ...(ip !== null && { remoteip: ip }),
    }),
    signal: AbortSignal.timeout(timeLimitMilliseconds),
  });
  return answer.parse(await response.json());
}
