import type { Prisma } from '../../db/client.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { ServiceContext } from '../context.ts';
import type { ClientRequest } from '../license/client-facts.ts';
import { type ClientFacts, decide } from '../license/decide.ts';
import { applyToLocked, type LockedLicense } from '../license/lock.ts';
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
  if (decision.code !== 'OK') throw new Refusal(decision.code);
  if (use.license === 'not-asked' || use.license === null) return null;
  const refusal = use.refuse?.(use.license) ?? null;
  if (refusal !== null) throw refusal;
  return applyToLocked(transaction, invalidations, use.license, decision.effects, now);
}
