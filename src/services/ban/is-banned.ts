import type { Pool } from 'pg';

export type BanType = 'hwid' | 'ip';

/** Key of the ban cache. */
export const banCacheKey = (applicationId: string, banType: BanType, value: string): string =>
  `${applicationId}/${banType}/${value}`;

/** The application id in a key of the ban cache. */
export const applicationOfBanKey = (key: string): string => key.slice(0, key.indexOf('/'));

/** Whether this device or address is banned. */
export async function loadIsBanned(
  pool: Pool,
  applicationId: string,
  banType: BanType,
  value: string,
): Promise<boolean> {
  const { rows } = await pool.query<{ banned: boolean }>(
    `SELECT EXISTS (
       SELECT FROM bans WHERE application_id = $1 AND ban_type = $2::"BanType" AND value = $3
     ) AS banned`,
    [applicationId, banType, value],
  );
  return rows[0]?.banned === true;
}
