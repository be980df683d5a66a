import type { ServiceContext } from '../context.ts';
import type { GivenSecondFactor } from '../second-factor/fields.ts';
import { type Proof, proveSecondFactor } from '../second-factor/prove.ts';
import { accountDeleted } from '../transaction.ts';
import { requirePassword } from './require-password.ts';

export interface OwnerProof {
  /** For `lockAccount`, which checks that it is still current. */
  readonly confirmedHash: string;
  /** For `spend`; null if TOTP is off. */
  readonly proof: Proof | null;
}

/**
 * Checks the password and, while TOTP is on, a code.
 * @throws {ServiceError} UNAUTHENTICATED, INVALID_CREDENTIALS, TOTP_REQUIRED, TOTP_INVALID, RATE_LIMITED
 */
export async function proveOwner(
  ctx: ServiceContext,
  developerId: string,
  given: GivenSecondFactor & { readonly password: string },
): Promise<OwnerProof> {
  const confirmedHash = await requirePassword(ctx, developerId, given.password);
  const developer = await ctx.env.database.prisma.developer.findUnique({
    where: { id: developerId },
    select: { id: true, totpEnabledAt: true },
  });
  if (developer === null) throw accountDeleted();
  return { confirmedHash, proof: await proveSecondFactor(ctx, developer, given) };
}
