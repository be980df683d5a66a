import type { DataConfig } from '../config.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { compareHistory, readAppliedMigrations } from '../db/migration-history.ts';
import { readMigrations } from '../db/migrations.ts';
import { openKeyring } from '../services/application/open-keyring.ts';
import { adviseOnLock } from './advise-on-lock.ts';
import { commandLog, connect, describeAddress, inMemoryDatabaseError } from './database.ts';
import { CommandError } from './failure.ts';
import type { Terminal } from './terminal.ts';

/**
 * Opens the database of developer accounts. A server database can be opened while the service runs, an embedded one
 * cannot.
 * @param task the operator's task as an imperative, such as `create the account`
 * @throws {CommandError | DatabaseStartError}
 */
export async function openAccounts(config: DataConfig, task: string, terminal: Terminal): Promise<Database> {
  if (config.database.kind === 'memory') throw inMemoryDatabaseError();
  if (config.database.kind === 'server') await requireCurrent(config, terminal);
  const log = commandLog(terminal);
  const { logPartitions, migrate } = config;
  const database = await adviseOnLock(task, () =>
    openDatabase(config.database, { log, maxConnections: 2, logPartitions, migrate }),
  );
  try {
    // Create the master secret before the first account. The service treats data without a secret as a lost secret.
    if (config.database.kind === 'embedded') await openKeyring(config, database.pool);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * A command must not migrate a server's database for a service that may be running on an earlier version.
 * @throws {CommandError} when migrations are pending
 */
async function requireCurrent({ database }: DataConfig, terminal: Terminal): Promise<void> {
  const migrations = await readMigrations();
  const { pool, close } = await connect(database, migrations, terminal);
  try {
    const { pending } = compareHistory(migrations, await readAppliedMigrations(pool));
    if (pending.length === 0) return;
    throw new CommandError(
      `${describeAddress(database)} is not up to date: first run "latchkey migrate" or start the service.`,
    );
  } finally {
    await close();
  }
}
