import { z } from 'zod';
import { Prisma } from '../../db/client.ts';
import { instant } from '../../db/from-json.ts';
import { all, columnsOf, type ListTable, listSource } from '../list-source.ts';
import { searchText } from '../page.ts';
import { containsText } from '../search.ts';
import { banSelect } from './view.ts';

export const banTable = {
  name: 'bans',
  columns: columnsOf('bans', { ...banSelect, applicationId: true }),
  fromJson: { createdAt: instant },
  developerId:
    '(SELECT applications.developer_id FROM applications WHERE applications.id = bans.application_id)',
  applicationId: 'bans.application_id',
  readScope: 'licenses:read',
} satisfies ListTable;

/** Filter of a ban list; all given conditions must match. */
export const banFilter = z.object({
  /** Substring of the banned device or address. */
  q: searchText.optional(),
  banType: z.enum(['hwid', 'ip']).optional(),
});

export type BanFilter = z.output<typeof banFilter>;

/** The bans of an application. */
export const bansOfApplications = listSource<BanFilter>({
  filter: banFilter,
  table: banTable,
  parentColumn: 'application_id',
  matches,
});

/** The bans that were caused by banning a license. */
export const bansOfLicenses = listSource<BanFilter>({
  filter: banFilter,
  table: banTable,
  parentColumn: 'source_license_id',
  matches,
});

function matches({ q, banType }: BanFilter): Prisma.Sql {
  return all([containsText(['bans.value'], q), banType && Prisma.sql`bans.ban_type = ${banType}::"BanType"`]);
}
