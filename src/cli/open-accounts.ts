import type { DataConfig } from '../config.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { pendingMigrations, readAppliedMigrations } from '../db/migration-history.ts';
import { readMigrations } from '../db/migrations.ts';
import { openKeyring } from '../services/application/open-keyring.ts';
import { adviseOnLock } from './advise-on-lock.ts';
import { commandLog, connect, describeAddress, keptNowhere } from './database.ts';
import { CommandError } from './failure.ts';
import type { Terminal } from './terminal.ts';

/**
 * Opens the database of the developers' accounts: on a server beside the service, embedded instead of it.
 * @param task what the operator wants, as `make the account`
 * @throws {CommandError | DatabaseStartError}
 */
export async function openAccounts(config: DataConfig, task: string, terminal: Terminal): Promise<Database> {
  if (config.database.kind === 'memory') throw keptNowhere();
  if (config.database.kind === 'server') await requireCurrent(config, terminal);
  const log = commandLog(terminal);
  const database = await adviseOnLock(task, () => openDatabase(config.database, { log, maxConnections: 2 }));
  try {
    // An embedded database has its secret before its first account: without one it would be taken for lost.
    if (config.database.kind === 'embedded') await openKeyring(config, database.pool);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** A service may be at work on a server's database, of the version that brought it up to date. */
async function requireCurrent({ database }: DataConfig, terminal: Terminal): Promise<void> {
  const migrations = await readMigrations();
  const { pool, close } = await connect(database, migrations, terminal);
  try {
    const pending = pendingMigrations(migrations, await readAppliedMigrations(pool));
    if (pending.length === 0) return;
    throw new CommandError(
      `${describeAddress(database)} is not up to date: run "latchkey migrate", or start the service, first.`,
    );
  } finally {
    await close();
  }
}
