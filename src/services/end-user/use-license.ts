import type { Prisma } from '../../db/client.ts';
import type { Invalidations } from '../changes/invalidations.ts';
import type { ServiceContext } from '../context.ts';
import type { ClientRequest } from '../license/client-facts.ts';
import { type ClientFacts, decide } from '../license/decide.ts';
import { applyToHeld, type HeldLicense } from '../license/hold.ts';
import { Refusal } from './client-auth.ts';

interface Use extends ClientRequest {
  readonly client: ClientFacts;
  readonly license: HeldLicense | null | 'not-asked';
  /** A last condition, asked once the license itself is found good. */
  readonly refuse?: (license: HeldLicense) => Refusal | null;
}

/**
 * Judges a license that the transaction holds, and writes what its use does to it: first use, binding.
 * @returns the license as it is then; null when the request is about none
 * @throws {Refusal} with the verdict
 */
export async function useLicense(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  invalidations: Invalidations,
  use: Use,
): Promise<HeldLicense | null> {
  const now = new Date(ctx.env.clock.now());
  const decision = decide({ ...use, now });
  if (decision.code !== 'OK') throw new Refusal(decision.code);
  if (use.license === 'not-asked' || use.license === null) return null;
  const refusal = use.refuse?.(use.license) ?? null;
  if (refusal !== null) throw refusal;
  return applyToHeld(transaction, invalidations, use.license, decision.effects, now);
}
