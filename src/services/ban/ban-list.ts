import type { Pool } from 'pg';
import type { BanType } from './is-banned.ts';

/** All bans of an application by type, or that there are too many to be kept in memory together. */
export type BanList = Readonly<Record<BanType, ReadonlySet<string>>> | 'too-many';

/** Beyond so many bans, an application's are looked up value by value. */
export const mostListedBans = 1_000;

/** How much a list weighs in its cache: values, and one for itself. */
export const banListSize = (list: BanList): number =>
  list === 'too-many' ? 1 : 1 + list.hwid.size + list.ip.size;

/**
 * The bans of an application. Nearly all have few: with all of them at hand, a device or address that was never seen
 * before is judged without asking the database.
 */
export async function loadBanList(pool: Pool, applicationId: string): Promise<BanList> {
  const { rows } = await pool.query<{ banType: BanType; value: string }>(
    `SELECT ban_type::text AS "banType", value FROM bans WHERE application_id = $1 LIMIT ${mostListedBans + 1}`,
    [applicationId],
  );
  if (rows.length > mostListedBans) return 'too-many';
  const of = (type: BanType) =>
    new Set(rows.filter(({ banType }) => banType === type).map(({ value }) => value));
  return { hwid: of('hwid'), ip: of('ip') };
}
