import { cookieLifetimeSeconds } from '../../crypto/cookie-token.ts';
import type { Prisma } from '../../db/client.ts';
import { newId } from '../../lib/ids.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { ServiceContext } from '../context.ts';

/** Bounds the work for a developer far above the limit, for example after it was lowered. */
const maxEndedAtOnce = 100;
const maxUserAgent = 300;

/**
 * Starts a session of the dashboard. At the limit, the developer's oldest sessions end. Sessions from the future, created
 * while the clock was ahead, count as the oldest: by their ids they would outlive all later ones. The transaction must
 * have locked or created the developer.
 * @param sessionVersion the developer's, as read in this transaction
 * @returns the session's id, for the cookie
 */
export async function startAccountSession(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  invalidations: Pick<Invalidations, 'credentials'>,
  { developerId, sessionVersion }: { readonly developerId: string; readonly sessionVersion: number },
): Promise<string> {
  const { clock, settings } = ctx.env;
  const now = new Date(clock.now());
  const ended = await transaction.$executeRaw`
    DELETE FROM account_sessions WHERE id IN (
      SELECT id FROM account_sessions WHERE developer_id = ${developerId}::uuid
      ORDER BY created_at > ${now}::timestamptz + interval '1 minute', id DESC
      OFFSET ${settings.countLimits.accountSessions - 1} LIMIT ${maxEndedAtOnce}
    )`;
  if (ended > 0) invalidations.credentials(developerId);
  const id = newId();
  await transaction.accountSession.create({
    data: {
      id,
      developerId,
      sessionVersion,
      ip: ctx.client.ip,
      country: ctx.client.country,
      userAgent: ctx.notes.userAgent?.slice(0, maxUserAgent) ?? null,
      createdAt: now,
      lastSeenAt: now,
      expiresAt: new Date(now.getTime() + cookieLifetimeSeconds * 1000),
    },
    select: { id: true },
  });
  return id;
}
