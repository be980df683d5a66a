import { z } from 'zod';
import { Prisma } from '../../db/client.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import { requireDeveloper } from '../actor.ts';
import type { Call } from '../context.ts';
import { applicationNotFound, ServiceError } from '../errors.ts';
import { strictObject } from '../fields.ts';
import { requireOwnApplication } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { recordSecurityEvent } from '../security-log/record.ts';
import { developerTransaction, lockApplication } from '../transaction.ts';
import { latestExpiry } from './decide.ts';

/** Ten years including leap days, in seconds. */
const maxExtension = 3653 * 24 * 60 * 60;

export const extendLicensesInput = strictObject({ seconds: z.int().min(1).max(maxExtension) });

/**
 * Extends all active licenses of an application that have an expiry and have not expired: all or none. If one would expire
 * later than possible, none is extended. Licenses that already have the latest possible expiry are unchanged. A suspended
 * license that keeps its remaining term has not expired if it had not when it was suspended.
 * @returns number of extended licenses
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND, VALIDATION_FAILED if a license would
 *   expire too late
 */
export async function extendLicenses({
  ctx,
  input: { applicationId: named, ...given },
}: Call<{ applicationId: string } & z.input<typeof extendLicensesInput>>): Promise<number> {
  const developerId = requireDeveloper(ctx.actor, 'licenses:write');
  const { seconds } = parseInput(extendLicensesInput, given);
  const applicationId = await requireOwnApplication(ctx, named, 'licenses:write');
  const now = new Date(ctx.env.clock.now());
  return developerTransaction(
    ctx,
    developerId,
    async (transaction, invalidations) => {
      if (!(await lockApplication(transaction, applicationId))) throw applicationNotFound();
      // Locks in order of id, like the security log's writer, which updates last IP addresses.
      const [outcome] = await transaction.$queryRaw<{ latest: Date | null; extended: number }[]>`
        WITH held AS MATERIALIZED (
          SELECT id, expires_at FROM licenses
          WHERE application_id = ${applicationId}::uuid AND status = 'active'
            AND expires_at > coalesce(clock_stopped_at, ${now})
            AND expires_at < ${latestExpiry} AND ${Prisma.raw(isNotUnderWay)}
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
  const message = `would make a license expire after ${bound}, the latest possible expiry: one already expires at ${latest.toISOString()}`;
  return ServiceError.invalidMember('seconds', message);
}

const bound = '9999-12-31T23:59:59Z';

/** An application may have millions of licenses, all of which are updated. In milliseconds. */
const timeLimit = { timeout: 120_000 };
