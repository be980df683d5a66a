import { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import { requireOwnApplication } from '../application/require-own.ts';
import type { ServiceContext } from '../context.ts';
import { applicationNotFound } from '../errors.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction, holdApplication } from '../transaction.ts';

/** "At most about 10 years" (interface, "Limits"): ten years with their leap days. */
const longestExtension = 3653 * 24 * 60 * 60;

export const extendLicensesInput = z.object({ seconds: z.int().min(1).max(longestExtension) });

/**
 * Gives every active license of an application more time: those that have an end, and have not reached it.
 * @returns how many there were
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND
 */
export async function extendLicenses({
  ctx,
  input,
}: {
  ctx: ServiceContext;
  input: { applicationId: string } & z.output<typeof extendLicensesInput>;
}): Promise<number> {
  const developerId = requireDeveloper(ctx.actor);
  const applicationId = await requireOwnApplication(ctx, input.applicationId);
  const now = new Date(ctx.env.clock.now());
  return developerTransaction(
    ctx,
    developerId,
    async (transaction, touched) => {
      if (!(await holdApplication(transaction, applicationId))) throw applicationNotFound();
      touched.allLicenses();
      // Locked in order of id, as the security log's writer does, which notes last addresses.
      const count = await transaction.$executeRaw`
        WITH held AS (
          SELECT id FROM licenses
          WHERE application_id = ${applicationId}::uuid AND status = 'active' AND expires_at > ${now}
          ORDER BY id FOR NO KEY UPDATE
        )
        UPDATE licenses SET expires_at = expires_at + ${input.seconds} * interval '1 second', updated_at = ${now}
        FROM held WHERE licenses.id = held.id`;
      await recordSecurityEvent(ctx, transaction, {
        developerId,
        applicationId,
        event: 'licenses_extended',
        metadata: { seconds: input.seconds, extended: count },
      });
      return count;
    },
    timeLimit,
  );
}

/** An application may have millions of licenses, and each is a row to rewrite. */
const timeLimit = { timeout: 120_000 };
