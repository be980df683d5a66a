import { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { applicationNotFound, ServiceError } from '../errors.ts';
import { strictObject } from '../fields.ts';
import { requireOwnApplication } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction, holdApplication } from '../transaction.ts';
import { latestExpiry } from './decide.ts';

/** "At most about 10 years" (interface, "Limits"): ten years with their leap days. */
const longestExtension = 3653 * 24 * 60 * 60;

export const extendLicensesInput = strictObject({ seconds: z.int().min(1).max(longestExtension) });

/**
 * Gives every active license of an application more time: those that have an end, and have not reached it. All or none:
 * when one would end later than a license can, none is extended. One that ends then already stays as it is.
 * @returns how many were extended
 * @throws {ServiceError} UNAUTHENTICATED, APP_NOT_FOUND, VALIDATION_FAILED when one would end too late
 */
export async function extendLicenses({
  ctx,
  input: { applicationId: named, ...given },
}: {
  ctx: ServiceContext;
  input: { applicationId: string } & z.input<typeof extendLicensesInput>;
}): Promise<number> {
  const developerId = requireDeveloper(ctx.actor);
  const { seconds } = parseInput(extendLicensesInput, given);
  const applicationId = await requireOwnApplication(ctx, named);
  const now = new Date(ctx.env.clock.now());
  return developerTransaction(
    ctx,
    developerId,
    async (transaction, invalidations) => {
      if (!(await holdApplication(transaction, applicationId))) throw applicationNotFound();
      // Locked in order of id, as the security log's writer does, which notes last addresses.
      const [outcome] = await transaction.$queryRaw<{ latest: Date | null; extended: number }[]>`
        WITH held AS MATERIALIZED (
          SELECT id, expires_at FROM licenses
          WHERE application_id = ${applicationId}::uuid AND status = 'active' AND expires_at > ${now}
            AND expires_at < ${latestExpiry}
          ORDER BY id FOR NO KEY UPDATE
        ), late AS MATERIALIZED (
          SELECT max(expires_at) AS latest FROM held
          WHERE expires_at > ${latestExpiry}::timestamptz - ${seconds} * interval '1 second'
        ), extended AS (
          UPDATE licenses SET expires_at = held.expires_at + ${seconds} * interval '1 second', updated_at = ${now}
          FROM held WHERE licenses.id = held.id AND (SELECT latest FROM late) IS NULL
          RETURNING 1
        )
        SELECT late.latest, (SELECT count(*) FROM extended)::int AS extended FROM late`;
      const { latest = null, extended: count = 0 } = outcome ?? {};
      if (latest !== null) throw tooLate(latest);
      if (count > 0) invalidations.licensesOf(applicationId);
      await recordSecurityEvent(ctx, transaction, {
        developerId,
        applicationId,
        event: 'licenses_extended',
        metadata: { seconds: seconds, extended: count },
      });
      return count;
    },
    timeLimit,
  );
}

function tooLate(latest: Date): ServiceError {
  const message = `would have a license end after ${bound}, the latest that one can: one ends at ${latest.toISOString()} already`;
  return new ServiceError('VALIDATION_FAILED', `The input is not valid: seconds: ${message}`, {
    issues: [{ path: ['seconds'], message }],
  });
}

const bound = '9999-12-31T23:59:59Z';

/** An application may have millions of licenses, and each is a row to rewrite. */
const timeLimit = { timeout: 120_000 };
