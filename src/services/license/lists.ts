import { z } from 'zod';
import { sha256 } from '../../crypto/hash.ts';
import { Prisma } from '../../db/client.ts';
import { type FromJsonOf, instant } from '../../db/from-json.ts';
import { isNotUnderWay } from '../../db/mint-under-way.ts';
import { searchedText } from '../../db/search-indexes.ts';
import type { ServiceContext } from '../context.ts';
import { id, strictObject, subscriptionTier, text } from '../fields.ts';
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
    suspendedAt: instant,
    clockStoppedAt: instant,
    createdAt: instant,
    updatedAt: instant,
  } satisfies FromJsonOf<LicenseRow>,
  developerId:
    '(SELECT applications.developer_id FROM applications WHERE applications.id = licenses.application_id)',
  applicationId: 'licenses.application_id',
  readScope: 'licenses:read',
} satisfies ListTable;

export const shownLicenseStatuses = [
  'unused',
  'active',
  'suspended',
  'expired',
  'banned',
] as const satisfies readonly ShownLicenseStatus[];

/** Filter of a license list; all given conditions must match. */
export const licenseFilter = z.object({
  /** Substring of key prefix, note, HWID or last IP address; or a complete key, or the complete HWID of a device. */
  q: searchText.optional(),
  statuses: z.array(z.enum(shownLicenseStatuses)).max(shownLicenseStatuses.length).optional(),
  subscriptionTiers: z.array(subscriptionTier).max(100).optional(),
  /** Expires at this time or later. */
  expiresFrom: z.date().optional(),
  /** Expires before this time. */
  expiresBefore: z.date().optional(),
  /** Whether it is bound to a device. */
  hasHwid: z.boolean().optional(),
  /** Has this tag. */
  tag: text({ min: 1, max: 64 }).optional(),
  /** Has these values, each under `client` or `private`. A text also matches the number or the boolean that it spells. */
  metadata: z
    .array(strictObject({ name: text({ min: 1, max: 64 }), value: text({ min: 0, max: 500 }) }))
    .max(10)
    .optional(),
  /** Was created by this policy, or it was applied last. */
  policyId: id.optional(),
});

export type LicenseFilter = z.output<typeof licenseFilter>;

/** From the sums that triggers maintain, without the licenses of a mint that is under way. */
const summedCount = Prisma.sql`
  (SELECT coalesce(sum(count), 0) FROM license_counts WHERE application_id = parent.id)
  + (SELECT coalesce(sum(change), 0) FROM license_count_changes WHERE application_id = parent.id)
  - (SELECT count(*) FROM licenses WHERE application_id = parent.id
      AND licenses.id BETWEEN (SELECT from_id FROM mint_under_way) AND (SELECT to_id FROM mint_under_way))`;

/** The licenses of an application. */
export const licensesOfApplications = listSource<LicenseFilter>({
  filter: licenseFilter,
  table: licenseTable,
  parentColumn: 'application_id',
  matches: matchesLicenseFilter,
  summedCount,
  within: isOfOne,
  indexed: ({ q, expiresFrom, expiresBefore, tag, metadata }) => {
    const conditions = [
      containsTextByIndex(searchedText.licenses, q, wholeText) ?? undefined,
      ...isOfTerm({ expiresFrom, expiresBefore }),
      tag !== undefined && hasTag(tag),
      ...(metadata ?? []).map(hasMetadata),
    ].filter((condition) => condition instanceof Prisma.Sql);
    return conditions.length === 0 ? null : all(conditions);
  },
});

/** The condition of a filter. */
export function matchesLicenseFilter(filter: LicenseFilter, ctx: ServiceContext): Prisma.Sql {
  const { q, statuses, subscriptionTiers, expiresFrom, expiresBefore, hasHwid, tag, metadata, policyId } =
    filter;
  return all([
    // Only the single session of an embedded database can see licenses of a mint in progress.
    ctx.env.database.kind !== 'server' && Prisma.raw(isNotUnderWay),
    containsText(searched, q, wholeText),
    statuses &&
      Prisma.sql`(${Prisma.join([...statuses.map((status) => hasStatus(status, ctx)), never], ' OR ')})`,
    subscriptionTiers && isOfTier(subscriptionTiers),
    ...isOfTerm({ expiresFrom, expiresBefore }),
    hasHwid !== undefined && isBound(hasHwid),
    tag !== undefined && hasTag(tag),
    ...(metadata ?? []).map(hasMetadata),
    policyId !== undefined && isOfPolicy(policyId),
  ]);
}

/** Its oldest device may be known only by its hash, because an offline lease has bound it. */
const isBound = (bound: boolean) =>
  bound
    ? Prisma.sql`(licenses.hwid IS NOT NULL OR licenses.device_hash IS NOT NULL)`
    : all([isSet('licenses.hwid', false), isSet('licenses.device_hash', false)]);

/**
 * The first condition is that of the partial index, which PostgreSQL does not derive from the second. The value comes from
 * a SELECT so that PostgreSQL plans without it: a tag that is common in the whole table may be rare in this application.
 */
const hasTag = (tag: string) =>
  Prisma.sql`(licenses.tags <> '{}' AND licenses.tags @> (SELECT ARRAY[${tag}]::text[]))`;

/** Containment, which an index finds, of each value that the text spells, in each part of the metadata. */
function hasMetadata({ name, value }: { readonly name: string; readonly value: string }): Prisma.Sql {
  const contained = spelledBy(value).flatMap((spelled) =>
    ['client', 'private'].map((part) => JSON.stringify({ [part]: { [name]: spelled } })),
  );
  const conditions = contained.map((json) => Prisma.sql`licenses.metadata @> (SELECT ${json}::jsonb)`);
  return Prisma.sql`(${Prisma.join(conditions, ' OR ')})`;
}

/** The values of metadata that a text of a query string can mean. */
function spelledBy(text: string): readonly (string | number | boolean)[] {
  if (text === 'true' || text === 'false') return [text, text === 'true'];
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text ? [text, number] : [text];
}

const isOfPolicy = (policyId: string) => Prisma.sql`licenses.policy_id = ${policyId}::uuid`;

const isOfTerm = ({ expiresFrom, expiresBefore }: Pick<LicenseFilter, 'expiresFrom' | 'expiresBefore'>) => [
  expiresFrom && Prisma.sql`licenses.expires_at >= ${expiresFrom}`,
  expiresBefore && Prisma.sql`licenses.expires_at < ${expiresBefore}`,
];

/**
 * Restricts the list to one policy, tier or stored status, for which there are indexes in the list's order
 * (list-indexes.ts). Only one of them, because rows that match both could be far apart in either index. `banned` is
 * preferred, because few licenses are banned.
 */
function isOfOne({ statuses = [], subscriptionTiers = [], policyId }: LicenseFilter): Prisma.Sql | null {
  const [status, ...otherStatuses] = statuses;
  const [tier, ...otherTiers] = subscriptionTiers;
  const stored = status === undefined ? undefined : storedStatus(status);
  const isOfStatus =
    stored === undefined || otherStatuses.length > 0
      ? null
      : Prisma.sql`licenses.status = ${stored}::"LicenseStatus"`;
  if (status === 'banned' && isOfStatus !== null) return isOfStatus;
  if (policyId !== undefined) return isOfPolicy(policyId);
  return tier === undefined || otherTiers.length > 0 ? isOfStatus : isOfTier([tier]);
}

/** The license with this key, and those that are bound to a device with this HWID. */
const wholeText = (text: string) => [
  Prisma.sql`licenses.key_hash = ${sha256(text)}`,
  Prisma.sql`licenses.id = ANY(ARRAY(
    SELECT devices.license_id FROM devices WHERE devices.hwid = ${text} AND devices.released_at IS NULL))`,
];

const searched = ['licenses.key_prefix', 'licenses.note', 'licenses.hwid', 'licenses.last_ip'];

/** A single tier is compared by equality, the only condition that keeps the order of the index on application, tier and id. */
function isOfTier([tier, ...others]: readonly number[]): Prisma.Sql {
  if (tier === undefined) return never;
  if (others.length === 0) return Prisma.sql`licenses.subscription_tier = ${tier}::int`;
  return Prisma.sql`licenses.subscription_tier = ANY(${[tier, ...others]}::int[])`;
}

/** Makes an empty list of statuses match nothing. */
const never = Prisma.sql`FALSE`;

/** The stored status of all licenses that are shown with this one; undefined if they have several. */
function storedStatus(status: ShownLicenseStatus): LicenseRow['status'] | undefined {
  switch (status) {
    case 'suspended':
      return undefined;
    case 'expired':
      return 'active';
    case 'unused':
    case 'active':
    case 'banned':
      return status;
  }
}

/** `shownStatus` as an SQL condition. */
function hasStatus(status: ShownLicenseStatus, { env }: ServiceContext): Prisma.Sql {
  const now = new Date(env.clock.now());
  switch (status) {
    case 'expired':
      return Prisma.sql`(licenses.status = 'active' AND licenses.suspended_at IS NULL AND licenses.expires_at <= ${now})`;
    case 'active':
      return Prisma.sql`(licenses.status = 'active' AND licenses.suspended_at IS NULL AND (licenses.expires_at IS NULL OR licenses.expires_at > ${now}))`;
    case 'suspended':
      return Prisma.sql`(licenses.status <> 'banned' AND licenses.suspended_at IS NOT NULL)`;
    case 'unused':
      return Prisma.sql`(licenses.status = 'unused' AND licenses.suspended_at IS NULL)`;
    case 'banned':
      return Prisma.sql`licenses.status = 'banned'`;
  }
}
