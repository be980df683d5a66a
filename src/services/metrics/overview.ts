import { lowestId } from '../../db/log-partition.ts';
import { requireDeveloper } from '../actor.ts';
import type { ServiceContext } from '../context.ts';

/** How a developer's applications and licenses stand, and what the last 24 hours saw. */
export interface MetricsOverview {
  readonly applications: { readonly total: number; readonly active: number; readonly disabled: number };
  readonly licenses: {
    readonly total: number;
    readonly unused: number;
    readonly active: number;
    readonly expired: number;
    readonly banned: number;
  };
  readonly validations24h: {
    readonly total: number;
    /** Verdict code to count; codes that did not occur are left out. */
    readonly byCode: Readonly<Record<string, number>>;
  };
}

const day = 24 * 60 * 60 * 1000;

/**
 * The figures of the dashboard's first screen.
 * @throws {ServiceError} UNAUTHENTICATED
 */
export async function metricsOverview({ ctx }: { ctx: ServiceContext }): Promise<MetricsOverview> {
  const developerId = requireDeveloper(ctx.actor);
  const now = new Date(ctx.env.clock.now());
  return {
    applications: await countApplications(ctx, developerId),
    licenses: await countLicenses(ctx, developerId, now),
    validations24h: await countValidations(ctx, developerId, new Date(now.getTime() - day)),
  };
}

async function countApplications({ env }: ServiceContext, developerId: string) {
  const groups = await env.database.prisma.application.groupBy({
    by: ['status'],
    where: { developerId },
    _count: true,
  });
  const count = (status: 'active' | 'disabled') =>
    groups.find((group) => group.status === status)?._count ?? 0;
  const [active, disabled] = [count('active'), count('disabled')];
  return { total: active + disabled, active, disabled };
}

async function countLicenses({ env }: ServiceContext, developerId: string, now: Date) {
  const { rows } = await env.database.pool.query<{ status: string; count: number; expired: number }>(
    `SELECT licenses.status::text AS status, count(*)::int AS count,
       count(*) FILTER (WHERE licenses.status = 'active' AND licenses.expires_at <= $2)::int AS expired
     FROM licenses JOIN applications ON applications.id = licenses.application_id
     WHERE applications.developer_id = $1 GROUP BY 1`,
    [developerId, now],
  );
  const of = (status: string) => rows.find((row) => row.status === status) ?? { count: 0, expired: 0 };
  const [unused, stored, banned] = [of('unused').count, of('active'), of('banned').count];
  return {
    total: unused + stored.count + banned,
    unused,
    active: stored.count - stored.expired,
    expired: stored.expired,
    banned,
  };
}

async function countValidations({ env }: ServiceContext, developerId: string, since: Date) {
  const groups = await env.database.prisma.securityLogEntry.groupBy({
    by: ['code'],
    // By id, which holds the time: so that only the partitions of these days are read.
    where: { developerId, event: 'license_validated', id: { gte: lowestId(since.getTime()) } },
    _count: true,
  });
  const byCode = Object.fromEntries(groups.map(({ code, _count }) => [code ?? 'UNKNOWN', _count]));
  return { total: groups.reduce((sum, { _count }) => sum + _count, 0), byCode };
}
