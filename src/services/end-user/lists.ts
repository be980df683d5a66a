import { z } from 'zod';
import { Prisma } from '../../db/client.ts';
import { type FromJsonOf, instant } from '../../db/from-json.ts';
import { searchedText } from '../../db/search-indexes.ts';
import { subscriptionTier } from '../fields.ts';
import { all, columnsOf, isSet, type ListTable, listSource } from '../list-source.ts';
import { searchText } from '../page.ts';
import { containsText, containsTextByIndex } from '../search.ts';
import { type EndUserRow, endUserSelect } from './view.ts';

const { license: _, ...ownColumns } = endUserSelect;

/** An end user's readable columns; the password hash is not among them. */
export const endUserTable = {
  name: 'end_users',
  columns: {
    ...columnsOf('end_users', ownColumns),
    license: `(SELECT json_build_object('subscriptionTier', licenses.subscription_tier)
      FROM licenses WHERE licenses.id = end_users.license_id)`,
  },
  fromJson: { createdAt: instant, updatedAt: instant } satisfies FromJsonOf<EndUserRow>,
  developerId:
    '(SELECT applications.developer_id FROM applications WHERE applications.id = end_users.application_id)',
  applicationId: 'end_users.application_id',
  readScope: 'users:read',
} satisfies ListTable;

/** Filter of an end user list; all given conditions must match. */
export const endUserFilter = z.object({
  /** Substring of username, email, last IP address or last HWID. */
  q: searchText.optional(),
  /** Whether a license is linked. */
  hasLicense: z.boolean().optional(),
  /** Tiers of the linked license. */
  subscriptionTiers: z.array(subscriptionTier).max(100).optional(),
  /** Whether a device is known. */
  hasHwid: z.boolean().optional(),
});

export type EndUserFilter = z.output<typeof endUserFilter>;

/** The end users of an application. */
export const usersOfApplications = listSource<EndUserFilter>({
  filter: endUserFilter,
  table: endUserTable,
  parentColumn: 'application_id',
  matches,
  indexed: ({ q }) => containsTextByIndex(searchedText.end_users, q),
});

/** The end users who have a license. */
export const usersOfLicenses = listSource<EndUserFilter>({
  filter: endUserFilter,
  table: endUserTable,
  parentColumn: 'license_id',
  matches,
  indexed: ({ q }) => containsTextByIndex(searchedText.end_users, q),
});

function matches({ q, hasLicense, subscriptionTiers, hasHwid }: EndUserFilter): Prisma.Sql {
  return all([
    containsText(searched, q),
    hasLicense !== undefined && isSet('end_users.license_id', hasLicense),
    subscriptionTiers &&
      Prisma.sql`EXISTS (SELECT FROM licenses WHERE licenses.id = end_users.license_id
        AND licenses.subscription_tier = ANY(${subscriptionTiers}::int[]))`,
    hasHwid !== undefined && isSet('end_users.last_hwid', hasHwid),
  ]);
}

const searched = ['end_users.username', 'end_users.email', 'end_users.last_ip', 'end_users.last_hwid'];
