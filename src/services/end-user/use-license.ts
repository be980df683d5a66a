import type { Prisma } from '../../db/client.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { ServiceContext } from '../context.ts';
import { refusalMembers } from '../license/answer-members.ts';
import { applyToLocked } from '../license/apply-to-locked.ts';
import { type ClientRequest, noLabels } from '../license/client-facts.ts';
import { type ClientFacts, decide } from '../license/decide.ts';
import type { LockedLicense } from '../license/lock.ts';
import { Refusal } from './client-auth.ts';

interface Use extends ClientRequest {
  readonly client: ClientFacts;
  readonly license: LockedLicense | null | 'not-asked';
  /** An additional condition, checked once the license itself is valid. */
  readonly refuse?: (license: LockedLicense) => Refusal | null;
}

/**
 * Checks a license that the transaction has locked, and writes the effects of its use: activation and device binding.
 * @returns the updated license; null if the request is not about one
 * @throws {Refusal} with the verdict
 */
export async function useLicense(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  use: Use,
): Promise<LockedLicense | null> {
  const now = new Date(ctx.env.clock.now());
  const decision = decide({ ...use, now });
  if (decision.code !== 'OK') throw new Refusal(decision.code, refusalMembers(decision));
  if (use.license === 'not-asked' || use.license === null) return null;
  const refusal = use.refuse?.(use.license) ?? null;
  if (refusal !== null) throw refusal;
  const device = use.hwid === null ? null : { hwid: use.hwid };
  const { effects } = decision;
  const labels = use.labels ?? noLabels;
  const { developerId } = use.application;
  const applied = { developerId, effects, device, labels, now };
  return applyToLocked(ctx, transaction, invalidations, use.license, applied);
}
