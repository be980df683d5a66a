import { signCookieToken } from '../../crypto/cookie-token.ts';
import { verifyPassword } from '../../crypto/password.ts';
import type { DeveloperId } from '../../lib/ids.ts';
import { networkOf } from '../../lib/ip.ts';
import type { CallOf, ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { anyPassword, strictObject, text } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { verifyBotChallenge } from './bot-challenge.ts';
import { developerSelect } from './developer-view.ts';
import type { LoggedIn } from './register.ts';

export const loginInput = strictObject({
  email: text({ min: 1, max: 254 }),
  password: anyPassword,
  turnstileToken: text({ min: 0, max: 2048 }).optional(),
});

/**
 * Logs a developer in. An unknown email address takes as much time as a known one and returns the same error as a wrong
 * password. (Registration still reveals which addresses have an account, with EMAIL_TAKEN.)
 * @throws {ServiceError} INVALID_CREDENTIALS, BOT_CHALLENGE_FAILED, UNAVAILABLE
 */
export async function login({ ctx, input: given }: CallOf<typeof loginInput>): Promise<LoggedIn> {
  const input = parseInput(loginInput, given);
  await verifyBotChallenge(ctx, input.turnstileToken);
  const { database, keyring, clock } = ctx.env;
  const found = await database.prisma.developer.findUnique({
    where: { emailNormalized: input.email.toLowerCase() },
    select: { ...developerSelect, passwordHash: true, sessionVersion: true },
  });
  const matches = await verifyPassword(found?.passwordHash ?? null, input.password, networkOf(ctx.client.ip));
  if (found === null) throw invalidCredentials();
  if (!matches) {
    // Not awaited: the time of the commit would reveal that the account exists. Without `work`, it is recorded even if
    // the client already has its response or has disconnected.
    const { work: _, ...detached } = ctx;
    void record(detached, found.id, 'developer_login_failed').catch((error: unknown) =>
      ctx.env.log.warn({ err: error }, 'a failed login could not be recorded'),
    );
    throw invalidCredentials();
  }
  await record(ctx, found.id, 'developer_logged_in').catch((error: unknown) => {
    // UNAUTHENTICATED means that the account was deleted after the look-up.
    throw error instanceof ServiceError && error.code === 'UNAUTHENTICATED' ? invalidCredentials() : error;
  });
  const { passwordHash: _, sessionVersion, ...developer } = found;
  const claims = { developerId: developer.id as DeveloperId, sessionVersion };
  return { developer, cookieToken: await signCookieToken(keyring, clock, claims) };
}

const record = (
  ctx: ServiceContext,
  developerId: string,
  event: 'developer_logged_in' | 'developer_login_failed',
): Promise<void> =>
  developerTransaction(
    ctx,
    developerId,
    (transaction) => recordSecurityEvent(ctx, transaction, { developerId, applicationId: null, event }),
    // Not in the account's queue, which anyone could fill with failed logins.
    { requester: { developer: ctx.client.limitKey } },
  );

const invalidCredentials = () => new ServiceError('INVALID_CREDENTIALS', 'Wrong email address or password.');
