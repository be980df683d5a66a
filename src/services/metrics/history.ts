import { z } from 'zod';
import { requireDeveloper } from '../actor.ts';
import type { CallOf } from '../context.ts';
import { strictObject } from '../fields.ts';
import { ownApplications, requireOwnApplication } from '../own-application.ts';
import { parseInput } from '../parse-input.ts';
import { countExpiries } from './count-expiries.ts';
import { countLicenses, type LicenseCounts } from './count-licenses.ts';
import { countUsage, type UsageCounts } from './count-usage.ts';
import { type Buckets, bucketsOf, metricsPeriodNames } from './periods.ts';

export const metricsHistoryInput = strictObject({
  period: z.enum(metricsPeriodNames),
  /** Without it: all applications that the caller may see. */
  applicationId: z.string().optional(),
});

/** What happened in the buckets of a period, what will expire, and the licenses as they are now. */
export interface MetricsHistory extends UsageCounts, Omit<Buckets, 'buckets'> {
  readonly expiries: readonly { readonly day: Date; readonly count: number }[];
  readonly licenses: LicenseCounts;
}

/**
 * Returns the figures for the dashboard's charts.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE, APP_NOT_FOUND
 */
export async function metricsHistory({
  ctx,
  input: given,
}: CallOf<typeof metricsHistoryInput>): Promise<MetricsHistory> {
  const developerId = requireDeveloper(ctx.actor, 'logs:read');
  const { period, applicationId } = parseInput(metricsHistoryInput, given);
  const applications =
    applicationId === undefined
      ? ownApplications(ctx.actor)
      : { developerId, id: await requireOwnApplication(ctx, applicationId, 'logs:read') };
  const now = new Date(ctx.env.clock.now());
  const { buckets, ...shape } = bucketsOf(period, now);
  return {
    ...shape,
    ...(await countUsage(ctx, applications, { buckets, ...shape })),
    expiries: await countExpiries(ctx, applications, now),
    licenses: await countLicenses(ctx, now, applications),
  };
}
