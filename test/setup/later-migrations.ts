import type { Database } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type Migration, readMigrations } from '../../src/db/migrations.ts';
import { createLogger } from '../../src/lib/log.ts';

/**
 * The migrations that test databases get in addition to those of this version. TEST_MIGRATIONS names a folder with those
 * of a later version, all of them, so that this version's tests run on the later schema: see test/previous-release.
 */
export const laterMigrations = async (): Promise<readonly Migration[]> => {
  const directory = process.env.TEST_MIGRATIONS;
  return directory === undefined ? [] : readMigrations(directory);
};

export async function applyLaterMigrations({ pool }: Pick<Database, 'pool'>): Promise<void> {
  const migrations = await laterMigrations();
  if (migrations.length > 0) await migrate(pool, { log: createLogger('silent'), migrations });
}
