import type { z } from 'zod';
import { signCookieToken } from '../../crypto/cookie-token.ts';
import type { DeveloperId } from '../../lib/ids.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { text } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { verifyBotChallenge } from './bot-challenge.ts';
import { createDeveloper } from './create-developer.ts';
import type { DeveloperView } from './developer-view.ts';
import { newDeveloper } from './fields.ts';

export const registerInput = newDeveloper.extend({
  turnstileToken: text({ min: 0, max: 2048 }).optional(),
});

/** A developer who is now logged in, and the token of the cookie that says so. */
export interface LoggedIn {
  readonly developer: DeveloperView;
  readonly cookieToken: string;
}

/**
 * Makes a developer's account and logs it in, where registration is open. Where it is closed the refusal comes before
 * any work, and says nothing of which addresses have an account.
 * @throws {ServiceError} REGISTRATION_CLOSED, EMAIL_TAKEN, BOT_CHALLENGE_FAILED, UNAVAILABLE
 */
export async function register({
  ctx,
  input: given,
}: {
  ctx: ServiceContext;
  input: z.input<typeof registerInput>;
}): Promise<LoggedIn> {
  const input = parseInput(registerInput, given);
  if (!ctx.env.settings.registrationOpen) {
    throw new ServiceError(
      'REGISTRATION_CLOSED',
      'Registration is closed here. Ask whoever runs this service for an account.',
    );
  }
  await verifyBotChallenge(ctx, input.turnstileToken);
  const developer = await createDeveloper({ ctx, input });
  const claims = { developerId: developer.id as DeveloperId, sessionVersion: 0 };
  return { developer, cookieToken: await signCookieToken(ctx.env.keyring, ctx.env.clock, claims) };
}
