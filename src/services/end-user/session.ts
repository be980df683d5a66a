import { randomBytes } from 'node:crypto';
import { sha256 } from '../../crypto/hash.ts';
import type { Prisma } from '../../db/client.ts';
import { newId } from '../../lib/ids.ts';
import type { ServiceContext } from '../context.ts';

/** Lifetime of an end user's session: 7 days. */
const lifetimeMilliseconds = 7 * 24 * 60 * 60 * 1000;

/** A new end user session, for its client. The database stores only the token's hash. */
export interface StartedSession {
  readonly sessionToken: string;
  readonly expiresAt: Date;
}

/** Bounds the work for a user far above the limit, for example after it was lowered. */
const maxEndedAtOnce = 100;

/**
 * Starts a session with a token of 256 random bits, opaque to the client. At the limit, the user's oldest sessions end,
 * because users expect to be able to log in on another device. Sessions from the future, created while the clock was
 * ahead, count as the oldest: by their ids they would outlive all later ones. The transaction must have locked or created
 * the user.
 */
export async function startEndUserSession(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  session: { readonly endUserId: string; readonly hwid: string | null },
): Promise<StartedSession> {
  const sessionToken = randomBytes(32).toString('base64url');
  const createdAt = new Date(ctx.env.clock.now());
  const expiresAt = new Date(createdAt.getTime() + lifetimeMilliseconds);
  await transaction.$executeRaw`
    DELETE FROM end_user_sessions WHERE id IN (
      SELECT id FROM end_user_sessions WHERE end_user_id = ${session.endUserId}::uuid
      ORDER BY created_at > ${createdAt}::timestamptz + interval '1 minute', id DESC OFFSET ${ctx.env.settings.countLimits.sessions - 1} LIMIT ${maxEndedAtOnce}
    )`;
  await transaction.endUserSession.create({
    data: {
      ...session,
      id: newId(),
      tokenHash: sha256(sessionToken),
      ip: ctx.client.ip,
      createdAt,
      expiresAt,
    },
    select: { id: true },
  });
  return { sessionToken, expiresAt };
}
