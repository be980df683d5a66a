import { type CookieClaims, signCookieToken } from '../../crypto/cookie-token.ts';
import type { Prisma } from '../../db/client.ts';
import { type DeveloperActor, requireDeveloperActor } from '../actor.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { ServiceContext } from '../context.ts';
import { lockAccountForCount } from '../require-room.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction } from '../transaction.ts';
import { newSessionVersion } from './session-version.ts';
import { startAccountSession } from './start.ts';

export interface RevokedSessions {
  /** How many of the listed sessions were ended. */
  readonly revoked: number;
  /** A new cookie token, if the caller's cookie is of the version before sessions: it has ended with the others. */
  readonly cookieToken: string | null;
}

/**
 * Ends all sessions of the dashboard except the caller's; all of them, if the caller has an API key. Cookies of the version
 * before sessions end too: they are in no list, so the session version is changed.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function revokeOtherSessions({ ctx }: { ctx: ServiceContext }): Promise<RevokedSessions> {
  const actor = requireDeveloperActor(ctx.actor, 'account:write');
  const { developerId } = actor;
  const { keyring, clock } = ctx.env;
  const { revoked, claims } = await developerTransaction(
    ctx,
    developerId,
    async (transaction, invalidations) => {
      // The same act in another session may end this one meanwhile: then this throws.
      await lockAccountForCount(ctx, transaction, developerId);
      const revoked = await countOthers(transaction, actor, new Date(clock.now()));
      const sessionVersion = newSessionVersion();
      const account = { where: { id: developerId }, data: { sessionVersion }, select: { id: true } };
      await transaction.developer.update(account);
      const claims = await keepOwn(ctx, transaction, invalidations, actor, sessionVersion);
      invalidations.credentials(developerId);
      await recordSecurityEvent(ctx, transaction, {
        developerId,
        applicationId: null,
        event: 'sessions_revoked',
        metadata: { revoked },
      });
      return { revoked, claims };
    },
  );
  return { revoked, cookieToken: claims === null ? null : await signCookieToken(keyring, clock, claims) };
}

/** Counts the listed sessions that will end. */
async function countOthers(
  transaction: Prisma.TransactionClient,
  actor: DeveloperActor,
  now: Date,
): Promise<number> {
  const { developerId } = actor;
  const own = actor.via === 'cookie' ? actor.sessionId : null;
  const [found] = await transaction.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS count FROM account_sessions JOIN developers USING (session_version)
    WHERE developers.id = ${developerId}::uuid AND developer_id = ${developerId}::uuid
      AND expires_at > ${now}::timestamptz AND account_sessions.id IS DISTINCT FROM ${own}::uuid`;
  return found?.count ?? 0;
}

/** Gives the caller's session the new version. @returns the claims of a new cookie, if the caller needs one */
async function keepOwn(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  actor: DeveloperActor,
  sessionVersion: number,
): Promise<CookieClaims | null> {
  if (actor.via === 'apiKey') return null;
  const { developerId, sessionId } = actor;
  const account = { developerId, sessionVersion };
  if (sessionId === null) {
    return { ...account, sessionId: await startAccountSession(ctx, transaction, invalidations, account) };
  }
  const own = { where: { id: sessionId, developerId }, data: { sessionVersion } };
  await transaction.accountSession.updateMany(own);
  return null;
}
