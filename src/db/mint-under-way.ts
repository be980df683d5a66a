import type pg from 'pg';
import { repeatSlices } from './delete-in-slices.ts';

/**
 * SQL that is true of visible licenses. An embedded database has one session, which a mint of thousands of licenses would
 * block for seconds. So such a mint inserts slices (services/license/add-in-slices.ts), and its licenses are hidden until
 * the last slice is in. The lookup is in a table with at most one row, once per statement.
 */
export const isNotUnderWay =
  '(licenses.id BETWEEN (SELECT from_id FROM mint_under_way) AND (SELECT to_id FROM mint_under_way)) IS NOT TRUE';

/** Licenses per statement. */
const rowsOfSlice = 500;

/**
 * Deletes the hidden licenses of a mint that failed or was interrupted. Only embedded databases have one. Call it while no
 * mint is under way.
 * @returns how many licenses were deleted
 */
export async function discardMintUnderWay(pool: pg.Pool): Promise<number> {
  const discarded = await repeatSlices(rowsOfSlice, () => pool.query(discardSlice));
  await pool.query('DELETE FROM mint_under_way');
  return discarded;
}

const discardSlice = `
  DELETE FROM licenses WHERE id IN (
    SELECT licenses.id FROM licenses JOIN mint_under_way
      ON licenses.application_id = mint_under_way.application_id
      AND licenses.id BETWEEN mint_under_way.from_id AND mint_under_way.to_id
    LIMIT ${rowsOfSlice})`;
