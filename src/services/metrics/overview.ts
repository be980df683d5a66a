import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';
import { inReadTurn } from '../developer-turns.ts';
import { countLicenses, type LicenseCounts } from './count-licenses.ts';
import { countValidations, type ValidationCounts } from './count-validations.ts';

/** Counts of a developer's applications and licenses, and validations in the last 24 hours. */
export interface MetricsOverview {
  readonly applications: { readonly total: number; readonly active: number; readonly disabled: number };
  readonly licenses: LicenseCounts;
  readonly validations24h: ValidationCounts;
}

const day = 24 * 60 * 60 * 1000;

/**
 * Returns the metrics for the dashboard's first screen.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function metricsOverview({ ctx }: { ctx: ServiceContext }): Promise<MetricsOverview> {
  const developerId = requireDeveloper(ctx.actor);
  const now = new Date(ctx.env.clock.now());
  return {
    applications: await countApplications(ctx, developerId),
    licenses: await countLicenses(ctx, developerId, now),
    validations24h: await countValidations(ctx, developerId, new Date(now.getTime() - day), now),
  };
}

async function countApplications(ctx: ServiceContext, developerId: string) {
  const groups = await inReadTurn(ctx, () =>
    ctx.env.database.prisma.application.groupBy({ by: ['status'], where: { developerId }, _count: true }),
  );
  const count = (status: 'active' | 'disabled') =>
    groups.find((group) => group.status === status)?._count ?? 0;
  const [active, disabled] = [count('active'), count('disabled')];
  return { total: active + disabled, active, disabled };
}
