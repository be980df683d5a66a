import type pg from 'pg';

/**
 * SQL that is true of licenses that may be seen. An embedded database has one session, which a mint of thousands would
 * hold for seconds, so it takes them in slices (services/license/add-in-slices.ts): until the last one is in, those that
 * are there are hidden. What it looks up is a table of one row or none, once a statement.
 */
export const isNotUnderWay =
  '(licenses.id BETWEEN (SELECT from_id FROM mint_under_way) AND (SELECT to_id FROM mint_under_way)) IS NOT TRUE';

/** So many licenses are deleted in one statement. */
const rowsOfSlice = 500;

/**
 * Deletes what is there of a mint that failed or was cut short, without ever having been seen. Embedded databases alone
 * have one. Call it where no mint is under way.
 * @returns how many licenses it had
 */
export async function discardMintUnderWay(pool: pg.Pool): Promise<number> {
  for (let discarded = 0; ; ) {
    const { rowCount } = await pool.query(
      `DELETE FROM licenses WHERE id IN (
         SELECT licenses.id FROM licenses JOIN mint_under_way
           ON licenses.application_id = mint_under_way.application_id
           AND licenses.id BETWEEN mint_under_way.from_id AND mint_under_way.to_id
         LIMIT ${rowsOfSlice})`,
    );
    discarded += rowCount ?? 0;
    if (rowCount !== null && rowCount >= rowsOfSlice) continue;
    await pool.query('DELETE FROM mint_under_way');
    return discarded;
  }
}
