import type { Prisma } from '../../db/client.ts';
import type { ServiceContext } from '../context.ts';
import { someoneInDashboard } from '../security-log/actor.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { totpInvalid, totpRequired } from './fields.ts';
import { ignoredStepsAfter, type Proof } from './prove.ts';

/**
 * Uses a code up, in the transaction of the act that it is for. Of parallel transactions with the same code, one succeeds.
 * The transaction must have locked the developer.
 * @param proof null if none was needed
 * @throws {ServiceError} TOTP_INVALID if the code was used meanwhile, or TOTP was turned off; TOTP_REQUIRED if it was turned
 *   on
 */
export async function spend(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  developerId: string,
  proof: Proof | null,
): Promise<void> {
  if (proof === null) return requireTotpOff(transaction, developerId);
  switch (proof.kind) {
    case 'totp':
      return spendTotpCode(ctx, transaction, developerId, proof.step);
    case 'recovery':
      return spendRecoveryCode(ctx, transaction, developerId, proof.codeHash);
  }
}

async function requireTotpOff(transaction: Prisma.TransactionClient, developerId: string): Promise<void> {
  const where = { id: developerId, totpEnabledAt: { not: null } };
  if ((await transaction.developer.count({ where })) > 0) throw totpRequired();
}

async function spendTotpCode(
  { env }: ServiceContext,
  transaction: Prisma.TransactionClient,
  developerId: string,
  step: number,
): Promise<void> {
  const spent = await transaction.$executeRaw`
    UPDATE developers SET totp_last_step = ${step}, totp_attempts = 0
    WHERE id = ${developerId}::uuid AND totp_enabled_at IS NOT NULL AND (
      totp_last_step IS NULL OR totp_last_step < ${step}
      OR totp_last_step > ${ignoredStepsAfter(env.clock.now())}
    )`;
  if (spent === 0) throw totpInvalid();
}

async function spendRecoveryCode(
  ctx: ServiceContext,
  transaction: Prisma.TransactionClient,
  developerId: string,
  codeHash: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const { count } = await transaction.recoveryCode.deleteMany({ where: { developerId, codeHash } });
  if (count === 0) throw totpInvalid();
  await recordSecurityEvent(ctx, transaction, {
    developerId,
    applicationId: null,
    event: 'recovery_code_used',
    ...(ctx.actor.type === 'anonymous' && { actor: someoneInDashboard(null, null) }),
    metadata: { left: await transaction.recoveryCode.count({ where: { developerId } }) },
  });
}
