import type { Pool } from 'pg';
import type { BanType } from './is-banned.ts';

/** All bans of an application by type, or `too-many` if there are too many to cache together. */
export type BanList = Readonly<Record<BanType, ReadonlySet<string>>> | 'too-many';

/** Applications with more bans than this have them looked up value by value. */
export const maxListedBans = 1_000;

/** The size of a list in its cache: the number of values, plus one. */
export const banListSize = (list: BanList): number =>
  list === 'too-many' ? 1 : 1 + list.hwid.size + list.ip.size;

/**
 * Loads the bans of an application. Nearly all applications have few, and with all of them cached, new devices and
 * addresses need no database look-up.
 */
export async function loadBanList(pool: Pool, applicationId: string): Promise<BanList> {
  const { rows } = await pool.query<{ banType: BanType; value: string }>(
    `SELECT ban_type::text AS "banType", value FROM bans WHERE application_id = $1 LIMIT ${maxListedBans + 1}`,
    [applicationId],
  );
  if (rows.length > maxListedBans) return 'too-many';
  const of = (type: BanType) =>
    new Set(rows.filter(({ banType }) => banType === type).map(({ value }) => value));
  return { hwid: of('hwid'), ip: of('ip') };
}
