import type pg from 'pg';
import { repeatSlices } from './delete-in-slices.ts';
import { queryWithoutTimeout } from './in-transaction.ts';

/**
 * An embedded database has one session, which the deletion of an application with a hundred thousand licenses would block
 * for seconds. So a large deletion only moves the data to a deleted owner, a row of `developers` that no one can log in as.
 * The data is gone for everyone at once. `sweepDeletedOwners` deletes the rows in short statements.
 */
const prefix = 'deleted:';

/** The address of a deleted owner. No real address begins like this: `:` is not allowed before the `@`. */
export const deletedOwnerEmail = (id: string): string => prefix + id;

/** No password has this hash (a salt and a result of zeros), but a login can verify it like any other. */
export const unusablePasswordHash = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/** SQL that is true of a row of `developers` whose owner is not deleted. */
export const isNotDeletedOwner = `developers.email_normalized NOT LIKE '${prefix}%'`;

/** Rows per statement. An owner with at most this many rows is deleted at once, by cascade. */
export const rowsAtOnce = 500;

/** The tables whose rows belong to an application, in the order of deletion. */
const ofApplication = [
  `DELETE FROM end_user_sessions WHERE id IN (
     SELECT end_user_sessions.id FROM end_user_sessions JOIN end_users ON end_users.id = end_user_id
     WHERE end_users.application_id = $1 LIMIT ${rowsAtOnce})`,
  // Before their licenses, which may have a thousand each.
  `DELETE FROM devices WHERE id IN (
     SELECT devices.id FROM devices JOIN licenses ON licenses.id = license_id
     WHERE licenses.application_id = $1 LIMIT ${rowsAtOnce})`,
  ...['end_users', 'licenses', 'bans', 'security_log', 'log_search_blocks', 'log_search_values'].map(
    (table) =>
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE application_id = $1 LIMIT ${rowsAtOnce})`,
  ),
  `DELETE FROM leases WHERE (application_id, license_id, device_hash) IN (
     SELECT application_id, license_id, device_hash FROM leases WHERE application_id = $1 LIMIT ${rowsAtOnce})`,
];

/** The tables whose rows belong to the account itself. */
const ofDeveloper = [
  `DELETE FROM webhook_deliveries WHERE id IN (
     SELECT webhook_deliveries.id FROM webhook_deliveries JOIN webhooks ON webhooks.id = webhook_id
     WHERE webhooks.developer_id = $1 LIMIT ${rowsAtOnce})`,
  ...['security_log', 'events'].map(
    (table) =>
      `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE developer_id = $1 LIMIT ${rowsAtOnce})`,
  ),
  `DELETE FROM idempotent_answers WHERE ctid = ANY(ARRAY(
     SELECT ctid FROM idempotent_answers WHERE developer_id = $1 LIMIT ${rowsAtOnce}))`,
];

/**
 * Deletes the data of deleted owners, then the owners. If it is stopped, the next call deletes the rest.
 * @param stop checked between statements
 * @returns how many owners were deleted
 */
export async function sweepDeletedOwners(pool: pg.Pool, stop: AbortSignal): Promise<number> {
  const owners = await pool.query<{ id: string }>(
    `SELECT id FROM developers WHERE NOT ${isNotDeletedOwner} ORDER BY id`,
  );
  const inSlices = (statement: string, ownerId: string) =>
    repeatSlices(rowsAtOnce, () => pool.query(statement, [ownerId]), stop);
  let swept = 0;
  for (const owner of owners.rows) {
    const applications = await pool.query<{ id: string }>(
      'SELECT id FROM applications WHERE developer_id = $1',
      [owner.id],
    );
    for (const { id } of applications.rows) {
      for (const statement of ofApplication) await inSlices(statement, id);
      if (stop.aborted) return swept;
      await queryWithoutTimeout(pool, 'DELETE FROM applications WHERE id = $1', [id]);
    }
    for (const statement of ofDeveloper) await inSlices(statement, owner.id);
    if (stop.aborted) return swept;
    const { rowCount } = await queryWithoutTimeout(pool, 'DELETE FROM developers WHERE id = $1', [owner.id]);
    swept += rowCount ?? 0;
  }
  return swept;
}
