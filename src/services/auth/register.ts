import { signCookieToken } from '../../crypto/cookie-token.ts';
import { startAccountSession } from '../account-session/start.ts';
import type { CallOf } from '../context.ts';
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

/** A new account has no sessions that could end. */
const noInvalidations = { credentials: () => undefined };

/** A developer who has just logged in, and their cookie token. */
export interface LoggedIn {
  readonly developer: DeveloperView;
  readonly cookieToken: string;
}

/**
 * Creates a developer account and logs it in, if registration is open. If it is closed, the error comes before any work
 * and does not reveal which email addresses have an account.
 * @throws {ServiceError} REGISTRATION_CLOSED, EMAIL_TAKEN, BOT_CHALLENGE_FAILED, UNAVAILABLE
 */
export async function register({ ctx, input: given }: CallOf<typeof registerInput>): Promise<LoggedIn> {
  const input = parseInput(registerInput, given);
  if (!ctx.env.settings.registrationOpen) {
    throw new ServiceError(
      'REGISTRATION_CLOSED',
      'Registration is closed. Ask the operator of this service for an account.',
    );
  }
  await verifyBotChallenge(ctx, input.turnstileToken);
  const { developer, result: claims } = await createDeveloper(
    { ctx, input },
    async (transaction, developerId) => {
      const account = { developerId, sessionVersion: 0 };
      const sessionId = await startAccountSession(ctx, transaction, noInvalidations, account);
      return { ...account, sessionId };
    },
  );
  return { developer, cookieToken: await signCookieToken(ctx.env.keyring, ctx.env.clock, claims) };
}
