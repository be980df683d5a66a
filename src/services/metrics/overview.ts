import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { inReadTurn } from '../developer-turns.ts';
import { ownApplications } from '../own-application.ts';
import { countLicenses, type LicenseCounts } from './count-licenses.ts';
import { countValidations, type ValidationCounts } from './count-validations.ts';

/** Counts of the applications that a caller may see, of their licenses, and of validations in the last 24 hours. */
export interface MetricsOverview {
  readonly applications: { readonly total: number; readonly active: number; readonly disabled: number };
  readonly licenses: LicenseCounts;
  readonly validations24h: ValidationCounts;
}

const day = 24 * 60 * 60 * 1000;

/**
 * Returns the metrics for the dashboard's first screen.
 * @throws {ServiceError} UNAUTHENTICATED, INSUFFICIENT_SCOPE
 */
export async function metricsOverview({ ctx }: { ctx: ServiceContext }): Promise<MetricsOverview> {
  requireDeveloper(ctx.actor, 'logs:read');
  const now = new Date(ctx.env.clock.now());
  return {
    applications: await countApplications(ctx),
    licenses: await countLicenses(ctx, now),
    validations24h: await countValidations(ctx, new Date(now.getTime() - day), now),
  };
}

async function countApplications(ctx: ServiceContext) {
  const where = ownApplications(ctx.actor);
  const groups = await inReadTurn(ctx, () =>
    ctx.env.database.prisma.application.groupBy({ by: ['status'], where, _count: true }),
  );
  const count = (status: 'active' | 'disabled') =>
    groups.find((group) => group.status === status)?._count ?? 0;
  const [active, disabled] = [count('active'), count('disabled')];
  return { total: active + disabled, active, disabled };
}
