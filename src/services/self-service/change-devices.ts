import type { Prisma } from '../../db/client.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { ServiceContext } from '../context.ts';
import { Refusal } from '../end-user/client-auth.ts';
import { lockEndUser } from '../end-user/lock.ts';
import { invalidateLicense, type LockedLicense, lockLicense } from '../license/lock.ts';
import { sessionExpired } from '../protocol-error.ts';
import { changeInTransaction, lockApplication } from '../transaction.ts';
import type { Noted } from './answer.ts';
import { allowanceOf, type MoveFacts, movedAtAfter } from './moves.ts';
import type { Customer } from './owner.ts';
import { type OwnLicense, requireSelfService } from './require-self-service.ts';

/** A license that is locked for a change of its devices. */
export interface LockedOwn extends OwnLicense {
  readonly transaction: Prisma.TransactionClient;
  readonly invalidations: Invalidations;
  readonly now: Date;
}

/**
 * Changes devices in one transaction, which locks the license and judges it as it is then: of parallel changes, each sees
 * the moves before it.
 * @throws {Refusal} with the verdict, SELF_SERVICE_OFF, or whatever `change` throws
 * @throws {ProtocolError} SESSION_EXPIRED if the application was deleted
 */
export function changeDevices<Result>(
  ctx: ServiceContext,
  customer: Customer,
  noted: Noted,
  change: (own: LockedOwn) => Promise<Result>,
): Promise<Result> {
  return changeInTransaction(ctx, async (transaction, invalidations) => {
    const { application } = customer.request;
    if (!(await lockApplication(transaction, application.id))) throw sessionExpired();
    const license = await lockOwned(transaction, customer);
    const now = new Date(ctx.env.clock.now());
    return change({ transaction, invalidations, now, ...requireSelfService(license, customer, now, noted) });
  });
}

/** Null if there is none. The user is locked first, like in every transaction that needs both. */
async function lockOwned(
  transaction: Prisma.TransactionClient,
  { owner, request: { application } }: Customer,
): Promise<LockedLicense | null> {
  if ('licenseKey' in owner) return lockLicense(transaction, owner);
  const user = await lockEndUser(transaction, application.id, owner.userId);
  if (user === null) throw new Refusal('INVALID_CREDENTIALS');
  return user.licenseId === null ? null : lockLicense(transaction, { licenseId: user.licenseId });
}

/** @throws {Refusal} MOVE_COOLDOWN, MOVES_EXHAUSTED */
export function requireMove({ license, now }: LockedOwn): void {
  const { retryAt, left, resetsAt } = allowanceOf(license, now);
  if (retryAt !== null) throw new Refusal('MOVE_COOLDOWN', { retryAt: retryAt.toISOString() });
  if (left !== 0) return;
  throw new Refusal('MOVES_EXHAUSTED', resetsAt === null ? {} : { resetsAt: resetsAt.toISOString() });
}

/** Counts a move. @returns the facts about the next one */
export async function countMove({ transaction, invalidations, license, now }: LockedOwn): Promise<MoveFacts> {
  const movedAt = movedAtAfter(license, now);
  invalidateLicense(invalidations, license);
  await transaction.license.update({
    where: { id: license.id },
    data: { movedAt: movedAt.map((time) => new Date(time)) },
    select: { id: true },
  });
  return { ...license, movedAt };
}
