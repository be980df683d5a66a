import type pg from 'pg';
import type { Logger } from '../lib/log.ts';
import { compareHistory, readAppliedMigrations, warnOfUnknown } from './migration-history.ts';
import type { Migration } from './migrations.ts';
import { describeMissingRights, findMissingRights } from './missing-rights.ts';
import { explained } from './refused-statement.ts';
import { DatabaseStartError } from './start-error.ts';

/**
 * The start with MIGRATE=check: only reads.
 * @throws {DatabaseStartError} `pending-migrations`, or as `compareHistory` does
 */
export async function requireMigrated(
  pool: pg.Pool,
  { log, migrations }: { readonly log: Logger; readonly migrations: readonly Migration[] },
): Promise<void> {
  const { pending, unknown } = compareHistory(migrations, await explained(readAppliedMigrations(pool)));
  const [first] = pending;
  if (first !== undefined) {
    throw new DatabaseStartError(
      'pending-migrations',
      `The database lacks ${pending.length} migrations, the first of which is "${first.name}", and with MIGRATE=check the ` +
        'service applies none: run "latchkey migrate" of this version with the role that owns the tables, then start again.',
    );
  }
  warnOfUnknown(log, unknown);
  const missing = await explained(findMissingRights(pool));
  if (missing !== null) log.warn(describeMissingRights(missing));
}
