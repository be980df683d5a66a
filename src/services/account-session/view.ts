import type { Prisma } from '../../db/client.ts';
import type { Actor } from '../actor.ts';

/** The columns of a session that its developer can read. */
export const accountSessionSelect = {
  id: true,
  ip: true,
  country: true,
  userAgent: true,
  createdAt: true,
  /** Accurate to a minute. */
  lastSeenAt: true,
  expiresAt: true,
} as const satisfies Prisma.AccountSessionSelect;

export type AccountSessionRow = Prisma.AccountSessionGetPayload<{ select: typeof accountSessionSelect }>;

export interface AccountSessionView extends AccountSessionRow {
  /** Whether the request came with this session's cookie. */
  readonly current: boolean;
}

/** Whether the actor's cookie names this session. */
export const isCurrentSession = (actor: Actor, { id }: { readonly id: string }): boolean =>
  actor.type === 'developer' && actor.via === 'cookie' && actor.sessionId === id;

export const accountSessionView =
  (actor: Actor) =>
  (session: AccountSessionRow): AccountSessionView => ({
    ...session,
    current: isCurrentSession(actor, session),
  });
