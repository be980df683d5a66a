import type { Pool } from 'pg';
import { compareHistory, type HistoryDifference, readAppliedMigrations } from '../../db/migration-history.ts';
import { readMigrations } from '../../db/migrations.ts';
import type { MigrateMode } from '../../db/schema-upkeep.ts';
import { describeFailure } from '../failure.ts';
import { type Finding, findingsOf } from './finding.ts';

const { ok, warn, fail } = findingsOf('database');

export interface MigrationState {
  readonly isEmpty: boolean;
  /** False if migrations are pending, or the database cannot be used with this version. */
  readonly isCurrent: boolean;
  readonly finding: Finding;
}

/** Compares the migrations of the database with those of this version. */
export async function checkMigrations(pool: Pool, migrate: MigrateMode): Promise<MigrationState> {
  const applied = await readAppliedMigrations(pool);
  if (applied.length === 0) {
    const finding =
      migrate === 'check'
        ? fail('The database is empty: run "latchkey migrate" with the role that is to own the tables.')
        : ok('The database is empty: the first start, or "latchkey migrate", creates its tables');
    return { isEmpty: true, isCurrent: false, finding };
  }
  try {
    const difference = compareHistory(await readMigrations(), applied);
    const finding = describe(applied.length, difference, migrate);
    return { isEmpty: false, isCurrent: difference.pending.length === 0, finding };
  } catch (error) {
    return { isEmpty: false, isCurrent: false, finding: fail(describeFailure(error)) };
  }
}

function describe(applied: number, { pending, unknown }: HistoryDifference, migrate: MigrateMode): Finding {
  if (pending.length > 0) {
    return migrate === 'check'
      ? fail(
          `${pending.length} migrations are pending, and with MIGRATE=check the service does not start: run "latchkey migrate".`,
        )
      : warn(
          `${pending.length} migrations are pending: the next start, or "latchkey migrate", applies them.`,
        );
  }
  if (unknown.length === 0) return ok(`All ${applied} migrations are applied`);
  return warn(
    `This version does not know the migrations ${unknown.join(', ')}: a later version has applied them. They are additive, ` +
      'so this version runs, but it makes no backup and rotates no secret: finish the upgrade, or the rollback.',
  );
}
