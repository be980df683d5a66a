import { sha256 } from '../../crypto/hash.ts';
import { Prisma } from '../../db/client.ts';
import type { ServiceContext } from '../context.ts';
import { containsPattern } from '../search.ts';
import { type Slice, type Sliced, toSliced } from '../slice.ts';
import { licenseSearch } from './list.ts';

/**
 * The same slice of the licenses of each of these applications, with the columns and relations that the caller
 * selects beside the id: two statements, however many applications there are and however many licenses they have. Whoever calls
 * has made sure that the applications are the asking developer's.
 */
export async function sliceLicenses({
  ctx,
  input: { applicationIds, slice, q },
  select,
}: {
  ctx: ServiceContext;
  input: { applicationIds: readonly string[]; slice: Slice; q: string | undefined };
  select: { id: true };
}): Promise<ReadonlyMap<string, Sliced<{ readonly id: string }>>> {
  const { prisma } = ctx.env.database;
  const direction = slice.backward ? Prisma.sql`ASC` : Prisma.sql`DESC`;
  const found = await prisma.$queryRaw<{ applicationId: string; id: string }[]>`
    SELECT application.id AS "applicationId", license.id
    FROM unnest(${applicationIds}::uuid[]) AS application (id)
    CROSS JOIN LATERAL (
      SELECT licenses.id FROM licenses
      WHERE licenses.application_id = application.id AND ${isWithin(slice)} AND ${matches(q)}
      ORDER BY licenses.id ${direction}
      LIMIT ${slice.size + 1}
    ) AS license
    ORDER BY license.id ${direction}`;
  const rows = await prisma.license.findMany({ where: { id: { in: found.map(({ id }) => id) } }, select });
  const byId = new Map(rows.map((row) => [row.id, row]));
  const own = new Map(applicationIds.map((id): [string, typeof rows] => [id, []]));
  for (const { applicationId, id } of found) {
    const row = byId.get(id);
    if (row !== undefined) own.get(applicationId)?.push(row);
  }
  return new Map([...own].map(([id, rows]) => [id, toSliced(rows, slice)]));
}

/** How many licenses each of these applications has; one that has none is left out. */
export async function countLicenses({
  ctx,
  input: { applicationIds, q },
}: {
  ctx: ServiceContext;
  input: { applicationIds: readonly string[]; q: string | undefined };
}): Promise<ReadonlyMap<string, number>> {
  const counts = await ctx.env.database.prisma.license.groupBy({
    by: ['applicationId'],
    where: { applicationId: { in: [...applicationIds] }, ...licenseSearch(q) },
    _count: true,
  });
  return new Map(counts.map(({ applicationId, _count }) => [applicationId, _count]));
}

function isWithin({ backward, fromId }: Slice): Prisma.Sql {
  if (fromId === null) return Prisma.sql`TRUE`;
  return backward ? Prisma.sql`licenses.id > ${fromId}::uuid` : Prisma.sql`licenses.id < ${fromId}::uuid`;
}

/** `licenseSearch` as SQL: Prisma has no limit a parent, and would read every license of every application. */
function matches(q: string | undefined): Prisma.Sql {
  if (q === undefined || q === '') return Prisma.sql`TRUE`;
  const pattern = containsPattern(q);
  return Prisma.sql`(licenses.key_prefix ILIKE ${pattern} OR licenses.note ILIKE ${pattern}
    OR licenses.hwid ILIKE ${pattern} OR licenses.last_ip ILIKE ${pattern} OR licenses.key_hash = ${sha256(q)})`;
}
