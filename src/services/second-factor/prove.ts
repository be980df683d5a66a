import { recoveryCodeHash } from '../../crypto/recovery-code.ts';
import { openTotpSecret } from '../../crypto/sealed-totp-secret.ts';
import { stepOfTotpCode, totpStepAt } from '../../crypto/totp.ts';
import type { ServiceContext } from '../context.ts';
import { recordFailedProof } from '../security-log/record-failed-proof.ts';
import { type GivenSecondFactor, totpInvalid, totpRequired } from './fields.ts';
import { takeAttempt } from './take-attempt.ts';

/** A right code. `spend` uses it up in the transaction of the act. */
export type Proof =
  | { readonly kind: 'totp'; readonly step: number }
  | { readonly kind: 'recovery'; readonly codeHash: Uint8Array<ArrayBuffer> };

/** A last step further ahead than this comes from a clock that was ahead, and is ignored. */
const maxStepsAhead = 10;

/** The last step from which codes count as unused now: steps after it, and those of a clock that was ahead. */
export const ignoredStepsAfter = (now: number): number => totpStepAt(now) + maxStepsAhead;

/**
 * Checks the second factor of a caller whose password was right. A wrong code is logged.
 * @returns null if TOTP is off: then nothing is needed, and a code is ignored
 * @throws {ServiceError} TOTP_REQUIRED, TOTP_INVALID, RATE_LIMITED
 */
export async function proveSecondFactor(
  ctx: ServiceContext,
  developer: { readonly id: string; readonly totpEnabledAt: Date | null },
  given: GivenSecondFactor,
): Promise<Proof | null> {
  if (developer.totpEnabledAt === null) return null;
  const { totpCode, recoveryCode } = given;
  if (totpCode === undefined && recoveryCode === undefined) throw totpRequired();
  const proof =
    totpCode === undefined
      ? await findRecoveryCode(ctx, developer.id, recoveryCode ?? '')
      : await checkTotpCode(ctx, developer.id, totpCode);
  if (proof !== null) return proof;
  await recordFailedProof(ctx, developer.id, 'totp_failed');
  throw totpInvalid();
}

async function checkTotpCode(ctx: ServiceContext, developerId: string, code: string): Promise<Proof | null> {
  const { keyring, clock, log } = ctx.env;
  const { secretEncrypted, lastStep } = await takeAttempt(ctx, developerId);
  const opened = openTotpSecret(keyring, developerId, secretEncrypted);
  if (opened === null) {
    log.error(
      { developerId },
      'The TOTP secret of an account was encrypted with another SERVICE_SECRET: its codes are refused, its recovery ' +
        'codes work. "latchkey reset-password --remove-totp" turns its TOTP off',
    );
    return null;
  }
  const now = clock.now();
  const step = stepOfTotpCode(opened.secret, code, now);
  if (step === null) return null;
  const isUnused = lastStep === null || lastStep < step || lastStep > ignoredStepsAfter(now);
  return isUnused ? { kind: 'totp', step } : null;
}

async function findRecoveryCode(
  { env: { database } }: ServiceContext,
  developerId: string,
  typed: string,
): Promise<Proof | null> {
  const codeHash = recoveryCodeHash(typed);
  const found = await database.prisma.recoveryCode.findUnique({
    where: { developerId_codeHash: { developerId, codeHash } },
    select: { developerId: true },
  });
  return found === null ? null : { kind: 'recovery', codeHash };
}
