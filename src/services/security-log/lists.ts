import { z } from 'zod';
import { Prisma } from '../../db/client.ts';
import { instant } from '../../db/from-json.ts';
import { lowestId } from '../../db/log-partition.ts';
import { id, text } from '../fields.ts';
import { all, columnsOf, type ListTable, listSource } from '../list-source.ts';
import { isOwn } from '../own-application.ts';
import { searchText } from '../page.ts';
import { containsText } from '../search.ts';
import { securityEvents } from './events.ts';
import { rangesWithText } from './ranges.ts';
import { securityLogSelect } from './view.ts';

export const securityLogTable = {
  name: 'security_log',
  columns: columnsOf('security_log', securityLogSelect),
  fromJson: { createdAt: instant },
  developerId: 'security_log.developer_id',
  applicationId: 'security_log.application_id',
  readScope: 'logs:read',
} satisfies ListTable;

/** Filter of a log; all given conditions must match. */
export const securityLogFilter = z.object({
  /** Substring of event, code, address, country or HWID. */
  q: searchText.optional(),
  events: z.array(z.enum(securityEvents)).max(securityEvents.length).optional(),
  /** Verdicts on clients' requests. */
  codes: z
    .array(text({ min: 1, max: 64 }))
    .max(50)
    .optional(),
  licenseId: id.optional(),
  userId: id.optional(),
  /** Made at this instant or later. */
  createdFrom: z.date().optional(),
  /** Made before this instant. */
  createdBefore: z.date().optional(),
});

export type SecurityLogFilter = z.output<typeof securityLogFilter>;

const log = {
  table: securityLogTable,
  filter: securityLogFilter,
  matches: securityLogMatches,
  within: isMadeBetween,
  // Users have no index.
  indexed: ({ licenseId }: SecurityLogFilter) => isOfLicense(licenseId),
};

/** The entries about an application. */
export const logOfApplications = listSource<SecurityLogFilter>({
  ...log,
  parentColumn: 'application_id',
  ranges: ({ q, licenseId }) => (licenseId === undefined ? rangesWithText(q) : null),
});

/**
 * The entries about a license, without those in another log, which may name it too. `IS TRUE` keeps
 * PostgreSQL from using the index on developers: with old statistics, it would read all of a developer's entries.
 */
export const logOfLicenses = listSource<SecurityLogFilter>({
  table: securityLogTable,
  filter: securityLogFilter,
  parentColumn: 'license_id',
  within: isMadeBetween,
  matches: (filter, { actor }) =>
    all([
      Prisma.sql`(${isOwn(actor, securityLogTable.developerId, securityLogTable.applicationId)}) IS TRUE`,
      securityLogMatches(filter),
    ]),
});

/** All entries of an account, including those about no application. */
export const logOfDevelopers = listSource<SecurityLogFilter>({ ...log, parentColumn: 'developer_id' });

/** The condition of a filter. */
export function securityLogMatches(filter: SecurityLogFilter): Prisma.Sql {
  const { q, events, codes, licenseId, userId, createdFrom, createdBefore } = filter;
  return all([
    containsText(searched, q),
    events && Prisma.sql`security_log.event = ANY(${events}::text[])`,
    codes && Prisma.sql`security_log.code = ANY(${codes}::text[])`,
    isOfLicense(licenseId) ?? undefined,
    userId !== undefined && Prisma.sql`security_log.user_id = ${userId}::uuid`,
    createdFrom && Prisma.sql`security_log.created_at >= ${createdFrom}`,
    createdBefore && Prisma.sql`security_log.created_at < ${createdBefore}`,
    isMadeBetween(filter),
  ]);
}

const isOfLicense = (licenseId: string | undefined): Prisma.Sql | null =>
  licenseId === undefined ? null : Prisma.sql`security_log.license_id = ${licenseId}::uuid`;

const searched = ['event', 'code', 'ip', 'country', 'hwid'].map((column) => `security_log.${column}`);

const hour = 60 * 60 * 1000;

/**
 * The log is partitioned by the time in the id, so a bound on the id excludes other partitions. The bound is an hour
 * too wide, because an entry's id and its time are not generated at the same moment.
 */
function isMadeBetween({ createdFrom, createdBefore }: SecurityLogFilter): Prisma.Sql {
  return all([
    createdFrom && Prisma.sql`security_log.id >= ${idAround(createdFrom, -1)}::uuid`,
    createdBefore && Prisma.sql`security_log.id < ${idAround(createdBefore, 1)}::uuid`,
  ]);
}

const idAround = (instant: Date, hours: number): string =>
  lowestId(Math.max(0, instant.getTime() + hours * hour));
