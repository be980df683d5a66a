import { z } from 'zod';
import { signCookieToken } from '../../crypto/cookie-token.ts';
import { hashPassword } from '../../crypto/password.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { type DeveloperId, newId } from '../../lib/ids.ts';
import type { ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { developerPassword, displayName, email, text } from '../fields.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { verifyBotChallenge } from './bot-challenge.ts';
import { type DeveloperView, developerSelect } from './developer-view.ts';

export const registerInput = z.object({
  email,
  password: developerPassword,
  name: displayName,
  turnstileToken: text({ min: 0, max: 2048 }).optional(),
});

/** A developer who is now logged in, and the token of the cookie that says so. */
export interface LoggedIn {
  readonly developer: DeveloperView;
  readonly cookieToken: string;
}

/**
 * Makes a developer's account and logs it in.
 * @throws {ServiceError} EMAIL_TAKEN, BOT_CHALLENGE_FAILED, UNAVAILABLE
 */
export async function register({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: z.output<typeof registerInput>;
}): Promise<LoggedIn> {
  await verifyBotChallenge(ctx, input.turnstileToken);
  const { database, keyring, clock } = ctx.env;
  const id = newId() as DeveloperId;
  const passwordHash = await hashPassword(input.password);
  const developer = await database.prisma
    .$transaction(async (transaction) => {
      const created = await transaction.developer.create({
        data: {
          id,
          email: input.email,
          emailNormalized: input.email.toLowerCase(),
          name: input.name,
          passwordHash,
        },
        select: developerSelect,
      });
      await recordSecurityEvent(ctx, transaction, {
        developerId: id,
        applicationId: null,
        event: 'developer_registered',
      });
      return created;
    })
    .catch((error: unknown) => {
      if (isUniqueViolation(error, 'email_normalized')) {
        throw new ServiceError('EMAIL_TAKEN', 'An account with this email address exists already.');
      }
      throw error;
    });
  return {
    developer,
    cookieToken: await signCookieToken(keyring, clock, { developerId: id, sessionVersion: 0 }),
  };
}
