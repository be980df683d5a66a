import { randomBytes } from 'node:crypto';
import { sha256 } from '../../crypto/hash.ts';
import type { Prisma } from '../../db/client.ts';
import { newId } from '../../lib/ids.ts';
import type { ServiceContext } from '../context.ts';

/** Lifetime of an end user's session: 7 days (interface, "Other constants"). */
const lifetimeMilliseconds = 7 * 24 * 60 * 60 * 1000;

/** An end user's session, as its client is told of it. The database keeps the token's hash alone. */
export interface StartedSession {
  readonly sessionToken: string;
  readonly expiresAt: Date;
}

/** A user who has many more than the limit, as after it was lowered, is not to wait until all of them are deleted. */
const mostEndedAtOnce = 100;

/**
 * Starts a session: 256 random bits, opaque to the client. At the limit the oldest sessions of the user end: whoever
 * logs in on another device expects to be let in. Sessions from the future, made while the clock was ahead, count as the
 * oldest: by their ids they would outlive every later one. The transaction must hold the user, or have created them.
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
      ORDER BY created_at > ${createdAt}::timestamptz + interval '1 minute', id DESC OFFSET ${ctx.env.settings.countLimits.sessions - 1} LIMIT ${mostEndedAtOnce}
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
