import { z } from 'zod';
import { sha256 } from '../../crypto/hash.ts';
import { Prisma } from '../../db/client.ts';
import { type FromJsonOf, instant } from '../../db/from-json.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import { searchedText } from '../../db/search-indexes.ts';
import type { ServiceContext } from '../context.ts';
import { subscriptionTier } from '../fields.ts';
import { all, columnsOf, isSet, type ListTable, listSource } from '../list-source.ts';
import { searchText } from '../page.ts';
import { containsText, containsTextByIndex } from '../search.ts';
import { type LicenseRow, licenseSelect, type ShownLicenseStatus } from './view.ts';

/** A license's readable columns; the hash of its key is not among them. */
export const licenseTable = {
  name: 'licenses',
  columns: columnsOf('licenses', licenseSelect),
  fromJson: {
    activatedAt: instant,
    expiresAt: instant,
    createdAt: instant,
    updatedAt: instant,
  } satisfies FromJsonOf<LicenseRow>,
  developerId:
    '(SELECT applications.developer_id FROM applications WHERE applications.id = licenses.application_id)',
} satisfies ListTable;

export const shownLicenseStatuses = [
  'unused',
  'active',
  'expired',
  'banned',
] as const satisfies readonly ShownLicenseStatus[];

/** Filter of a license list; all given conditions must match. */
export const licenseFilter = z.object({
  /** Substring of key prefix, note, HWID or last IP address; or a complete key. */
  q: searchText.optional(),
  statuses: z.array(z.enum(shownLicenseStatuses)).max(shownLicenseStatuses.length).optional(),
  subscriptionTiers: z.array(subscriptionTier).max(100).optional(),
  /** Expires at this time or later. */
  expiresFrom: z.date().optional(),
  /** Expires before this time. */
  expiresBefore: z.date().optional(),
  /** Whether it is bound to a device. */
  hasHwid: z.boolean().optional(),
});

export type LicenseFilter = z.output<typeof licenseFilter>;

/** The licenses of an application. */
export const licensesOfApplications = listSource<LicenseFilter>({
  filter: licenseFilter,
  table: licenseTable,
  parentColumn: 'application_id',
  matches,
  within: isOfOne,
  indexed: ({ q, expiresFrom, expiresBefore }) => {
    const conditions = [
      containsTextByIndex(searchedText.licenses, q, wholeKey) ?? undefined,
      ...isOfTerm({ expiresFrom, expiresBefore }),
    ].filter((condition) => condition !== undefined);
    return conditions.length === 0 ? null : all(conditions);
  },
});

function matches(filter: LicenseFilter, ctx: ServiceContext): Prisma.Sql {
  const { q, statuses, subscriptionTiers, expiresFrom, expiresBefore, hasHwid } = filter;
  return all([
    // Only the single session of an embedded database can see licenses of a mint in progress.
    ctx.env.database.kind !== 'server' && Prisma.raw(isNotUnderWay),
    containsText(searched, q, wholeKey),
    statuses &&
      Prisma.sql`(${Prisma.join([...statuses.map((status) => hasStatus(status, ctx)), never], ' OR ')})`,
    subscriptionTiers && isOfTier(subscriptionTiers),
    ...isOfTerm({ expiresFrom, expiresBefore }),
    hasHwid !== undefined && isSet('licenses.hwid', hasHwid),
  ]);
}

const isOfTerm = ({ expiresFrom, expiresBefore }: Pick<LicenseFilter, 'expiresFrom' | 'expiresBefore'>) => [
  expiresFrom && Prisma.sql`licenses.expires_at >= ${expiresFrom}`,
  expiresBefore && Prisma.sql`licenses.expires_at < ${expiresBefore}`,
];

/**
 * Restricts the list to one tier or one stored status, for which there are indexes in the list's order (list-indexes.ts).
 * Only one of the two, because rows that match both could be far apart in either index. `banned` is preferred, because few
 * licenses are banned.
 */
function isOfOne({ statuses = [], subscriptionTiers = [] }: LicenseFilter): Prisma.Sql | null {
  const [status, ...otherStatuses] = statuses;
  const [tier, ...otherTiers] = subscriptionTiers;
  const stored = status === 'expired' ? 'active' : status;
  const isOfStatus =
    stored === undefined || otherStatuses.length > 0
      ? null
      : Prisma.sql`licenses.status = ${stored}::"LicenseStatus"`;
  if (status === 'banned' && isOfStatus !== null) return isOfStatus;
  return tier === undefined || otherTiers.length > 0 ? isOfStatus : isOfTier([tier]);
}

const wholeKey = (key: string) => [Prisma.sql`licenses.key_hash = ${sha256(key)}`];

const searched = ['licenses.key_prefix', 'licenses.note', 'licenses.hwid', 'licenses.last_ip'];

/** A single tier is compared by equality, the only condition that keeps the order of the index on application, tier and id. */
function isOfTier([tier, ...others]: readonly number[]): Prisma.Sql {
  if (tier === undefined) return never;
  if (others.length === 0) return Prisma.sql`licenses.subscription_tier = ${tier}::int`;
  return Prisma.sql`licenses.subscription_tier = ANY(${[tier, ...others]}::int[])`;
}

/** Makes an empty list of statuses match nothing. */
const never = Prisma.sql`FALSE`;

/** `shownStatus` as an SQL condition. */
function hasStatus(status: ShownLicenseStatus, { env }: ServiceContext): Prisma.Sql {
  const now = new Date(env.clock.now());
  switch (status) {
    case 'expired':
      return Prisma.sql`(licenses.status = 'active' AND licenses.expires_at <= ${now})`;
    case 'active':
      return Prisma.sql`(licenses.status = 'active' AND (licenses.expires_at IS NULL OR licenses.expires_at > ${now}))`;
    case 'unused':
    case 'banned':
      return Prisma.sql`licenses.status = ${status}::"LicenseStatus"`;
  }
}
