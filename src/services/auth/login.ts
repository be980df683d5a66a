import { type CookieClaims, signCookieToken } from '../../crypto/cookie-token.ts';
import { verifyPassword } from '../../crypto/password.ts';
import type { Prisma } from '../../db/client.ts';
import type { DeveloperId } from '../../lib/ids.ts';
import { networkOf } from '../../lib/ip.ts';
import { startAccountSession } from '../account-session/start.ts';
import type { CallOf, ServiceContext } from '../context.ts';
import { ServiceError } from '../errors.ts';
import { anyPassword, strictObject, text } from '../fields.ts';
import { parseInput } from '../parse-input.ts';
import { secondFactor } from '../second-factor/fields.ts';
import { type Proof, proveSecondFactor } from '../second-factor/prove.ts';
import { spend } from '../second-factor/spend.ts';
import { someoneInDashboard } from '../security-log/actor.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { recordFailedProof } from '../security-log/record-failed-proof.ts';
import { developerTransaction } from '../transaction.ts';
import { verifyBotChallenge } from './bot-challenge.ts';
import { developerSelect } from './developer-view.ts';
import type { LoggedIn } from './register.ts';

export const loginInput = strictObject({
  email: text({ min: 1, max: 254 }),
  password: anyPassword,
  turnstileToken: text({ min: 0, max: 2048 }).optional(),
  ...secondFactor,
});

/**
 * Logs a developer in. An unknown email address takes as much time as a known one and returns the same error as a wrong
 * password. (Registration still reveals which addresses have an account, with EMAIL_TAKEN.) Whether an account has TOTP on
 * is told only after the right password.
 * @throws {ServiceError} INVALID_CREDENTIALS, TOTP_REQUIRED, TOTP_INVALID, RATE_LIMITED, BOT_CHALLENGE_FAILED, UNAVAILABLE
 */
export async function login({ ctx: given, input: sent }: CallOf<typeof loginInput>): Promise<LoggedIn> {
  // Whoever logs in is not yet known: with the cookie of another account, they would act in its name.
  const ctx: ServiceContext = { ...given, actor: { type: 'anonymous', rejected: null } };
  const input = parseInput(loginInput, sent);
  await verifyBotChallenge(ctx, input.turnstileToken);
  const { database, keyring, clock } = ctx.env;
  const found = await database.prisma.developer.findUnique({
    where: { emailNormalized: input.email.toLowerCase() },
    select: { ...developerSelect, passwordHash: true, totpEnabledAt: true },
  });
  const matches = await verifyPassword(found?.passwordHash ?? null, input.password, networkOf(ctx.client.ip));
  if (found === null) throw invalidCredentials();
  if (!matches) {
    // Not awaited: the time of the commit would reveal that the account exists. Without `work`, it is recorded even if
    // the client already has its response or has disconnected.
    const { work: _, ...detached } = ctx;
    void recordFailedProof(detached, found.id, 'developer_login_failed').catch((error: unknown) =>
      ctx.env.log.warn({ err: error }, 'a failed login could not be recorded'),
    );
    throw invalidCredentials();
  }
  const { passwordHash, totpEnabledAt, ...developer } = found;
  const proof = await proveSecondFactor(ctx, { id: found.id, totpEnabledAt }, input);
  const { id, name } = developer;
  const claims = await startSession(ctx, id, { name, passwordHash }, proof).catch((error: unknown) => {
    // UNAUTHENTICATED means that the account was deleted after the look-up.
    throw error instanceof ServiceError && error.code === 'UNAUTHENTICATED' ? invalidCredentials() : error;
  });
  return { developer, cookieToken: await signCookieToken(keyring, clock, claims) };
}

/** Starts the session, if the account still has the password and the second factor that were checked. */
const startSession = (
  ctx: ServiceContext,
  developerId: string,
  { name, passwordHash }: { readonly name: string; readonly passwordHash: string },
  proof: Proof | null,
): Promise<CookieClaims> =>
  developerTransaction(
    ctx,
    developerId,
    async (transaction, invalidations) => {
      const account = await lockForLogin(transaction, developerId);
      if (account?.passwordHash !== passwordHash) throw invalidCredentials();
      await spend(ctx, transaction, developerId, proof);
      const { sessionVersion } = account;
      const session = { developerId, sessionVersion };
      const sessionId = await startAccountSession(ctx, transaction, invalidations, session);
      const entry = {
        developerId,
        applicationId: null,
        event: 'developer_logged_in',
        actor: someoneInDashboard(name, sessionId),
      } as const;
      await recordSecurityEvent(ctx, transaction, entry);
      return { developerId: developerId as DeveloperId, sessionVersion, sessionId };
    },
    // Not the account's queue, which anyone could fill with failed logins.
    { requester: { developer: ctx.client.limitKey } },
  );

/** Locks the account like a creation of something that is counted: other changes of the developer go on. */
async function lockForLogin(transaction: Prisma.TransactionClient, developerId: string) {
  const [account] = await transaction.$queryRaw<{ passwordHash: string; sessionVersion: number }[]>`
    SELECT password_hash AS "passwordHash", session_version AS "sessionVersion"
    FROM developers WHERE id = ${developerId}::uuid FOR NO KEY UPDATE`;
  return account;
}

const invalidCredentials = () => new ServiceError('INVALID_CREDENTIALS', 'Wrong email address or password.');
